"""What the tests of `gatehouse batch` share."""
import json

from run_case import RunCase


class BatchCase(RunCase):
    def calls(self, *commands):
        """A file of one shell call for each command, with the ids c0, c1, …"""
        path = self.base + "/calls.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            for n, command in enumerate(commands):
                file.write(json.dumps({"callId": f"c{n}", "arguments": {"command": command}}) + "\n")
        return path
