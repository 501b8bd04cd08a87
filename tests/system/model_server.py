"""A model that says what it is told to: the Responses interface as the reference agent speaks it, on loopback."""
import http.server
import json
import threading


def events(items):
    """One answer of the model: its items, streamed."""
    response = {"id": "resp-1", "object": "response", "status": "in_progress", "output": []}
    yield "response.created", {"type": "response.created", "response": response}
    for index, item in enumerate(items):
        yield "response.output_item.added", {"type": "response.output_item.added", "output_index": index, "item": item}
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": index, "item": item}
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
             "total_tokens": 2}
    yield "response.completed", {"type": "response.completed",
                                 "response": {**response, "status": "completed", "output": items, "usage": usage}}


def call(number, name, arguments):
    return {"type": "function_call", "id": f"fc-{number}", "call_id": f"call-{number}", "name": name,
            "arguments": json.dumps(arguments)}


def custom_call(number, name, text):
    return {"type": "custom_tool_call", "id": f"ctc-{number}", "call_id": f"call-{number}", "name": name, "input": text,
            "status": "completed"}


def message(text):
    return {"type": "message", "id": "msg-1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}


class ModelServer:
    """Answers the n-th request with the n-th of `turns`, later ones with the last: a list of items, or what makes one of
    the request. Keeps the requests."""

    def __init__(self, turns):
        self.turns, self.requests = turns, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                body = b'{"object":"list","data":[],"models":[]}'
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(asked)
                items = outer.turns[min(len(outer.requests), len(outer.turns)) - 1]
                if callable(items):
                    items = items(asked)
                body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events(items)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def outputs(self):
        """What the tools answered, by call id, as the model was told."""
        found = {}
        for asked in self.requests:
            for item in asked.get("input", []):
                if item.get("type") in ("function_call_output", "custom_tool_call_output"):
                    found[item["call_id"]] = item["output"] if isinstance(item["output"], str) else json.dumps(item["output"])
        return found

    def close(self):
        self.server.shutdown()
        self.server.server_close()
