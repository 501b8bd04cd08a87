"""A model that says what it is told to, on loopback, in the dialects that agents speak: Anthropic's messages, OpenAI's chat
completions and responses, Gemini's generateContent. It calls one tool once, and then says that it is done."""
import http.server
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import model_server  # noqa: E402  (the responses dialect)

DONE = "all is done"


def sse(events):
    return "".join((f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
                   for name, data in events)


class Messages:
    """POST …/v1/messages"""

    @staticmethod
    def tools(asked):
        return [one["name"] for one in asked.get("tools", [])]

    @staticmethod
    def results(asked):
        return [json.dumps(part.get("content")) for said in asked["messages"] if isinstance(said["content"], list)
                for part in said["content"] if part.get("type") == "tool_result"]

    @staticmethod
    def answer(asked, call):
        if call:
            name, arguments = call
            begin = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
            block, why = {**begin, "input": arguments}, "tool_use"
        else:
            begin, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": DONE}
            block, why = {"type": "text", "text": DONE}, "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model", "m"), "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not asked.get("stream"):
            return {**message, "content": [block], "stop_reason": why}
        return [("message_start", {"type": "message_start", "message": message}),
                ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": begin}),
                ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
                ("content_block_stop", {"type": "content_block_stop", "index": 0}),
                ("message_delta", {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": usage}),
                ("message_stop", {"type": "message_stop"})]


class Completions:
    """POST …/chat/completions"""

    @staticmethod
    def tools(asked):
        return [one["function"]["name"] for one in asked.get("tools") or []]

    @staticmethod
    def results(asked):
        return [json.dumps(said["content"]) for said in asked["messages"] if said["role"] == "tool"]

    @staticmethod
    def answer(asked, call):
        said, why = {"role": "assistant", "content": DONE}, "stop"
        if call:
            name, arguments = call
            said = {"role": "assistant", "content": None, "tool_calls": [
                {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]}
            why = "tool_calls"
        head = {"id": "c1", "created": 1, "model": asked.get("model", "m")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not asked.get("stream"):
            return {**head, "object": "chat.completion", "usage": usage,
                    "choices": [{"index": 0, "message": said, "finish_reason": why}]}
        chunk = {**head, "object": "chat.completion.chunk"}
        return [(None, {**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}),
                (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": why}], "usage": usage}),
                (None, "[DONE]")]


class Responses:
    """POST …/responses"""

    @staticmethod
    def tools(asked):
        """Those of a namespace as NAMESPACE/NAME."""
        return [f"{one['name']}/{inner['name']}" if inner else one.get("name", one["type"])
                for one in asked.get("tools", []) for inner in one.get("tools", [None])]

    @staticmethod
    def results(asked):
        return [json.dumps(item["output"]) for item in asked.get("input", []) if item.get("type") == "function_call_output"]

    @staticmethod
    def answer(_, call):
        item = model_server.message(DONE)
        if call:
            space, _, name = call[0].rpartition("/")
            item = model_server.call(1, name, call[1])
            if space:
                item["namespace"] = space
        return list(model_server.events([item]))


class Gemini:
    """POST …/models/NAME:generateContent or :streamGenerateContent"""

    @staticmethod
    def tools(asked):
        return [one["name"] for tool in asked.get("tools", []) for one in tool.get("functionDeclarations", [])]

    @staticmethod
    def results(asked):
        return [json.dumps(part["functionResponse"]["response"]) for said in asked["contents"] for part in said["parts"]
                if "functionResponse" in part]

    @staticmethod
    def answer(asked, call):
        part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": DONE}
        if not call and asked.get("generationConfig", {}).get("responseMimeType") == "application/json":
            part = {"text": "{}"}
        said = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        return [(None, said)] if asked["stream"] else said


def dialect_of(path):
    if path.endswith("/messages"):
        return Messages
    if path.endswith("/chat/completions"):
        return Completions
    if path.endswith("/responses"):
        return Responses
    return Gemini if "enerateContent" in path else None


class Model:
    """Calls the tool whose name ends with `tool`, with `arguments`, as soon as it is offered; once its result is there,
    and where it is not offered, it says that it is done."""

    def __init__(self, tool, arguments):
        self.offered = set()  # every tool that an agent has offered
        self.results = []  # what tools answered, as the model was told, in the order of requests
        self.unknown = []  # paths that no dialect knows
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def say(self, what, status=200):
                stream = isinstance(what, list)
                body = (sse(what) if stream else json.dumps(what)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_HEAD(self):
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self):
                self.say({"object": "list", "data": [{"id": "mock", "object": "model"}], "models": []})

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
                path = self.path.split("?")[0]
                dialect = dialect_of(path)
                if not dialect:
                    outer.unknown.append(path)
                    return self.say({"input_tokens": 1, "totalTokens": 1} if "ount" in path else {}, 200 if "ount" in path else 404)
                if dialect is Gemini:
                    asked["stream"] = "streamGenerateContent" in path
                offered, results = dialect.tools(asked), dialect.results(asked)
                outer.offered.update(offered)
                outer.results += [one for one in results if one not in outer.results]
                self.say(dialect.answer(asked, outer.next_call(offered, results)))

        self.tool, self.arguments, self.searched = tool, arguments, 0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next_call(self, offered, results):
        name = next((one for one in offered if one.endswith(self.tool)), None)
        if name and len(results) == self.searched:
            return name, self.arguments
        # An agent that shows the tools of servers only when they are looked for.
        if not name and not results and "tool_search" in offered:
            self.searched = 1
            return "tool_search", {"query": f"select:mcp__gatehouse__{self.tool}"}
        return None

    def close(self):
        self.server.shutdown()
        self.server.server_close()
