"""python3 quick_start.py <address> <buyer key> <ref_id>: deposits, buys, and waits for the verified webhook."""

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from topup import Client, WebhookError, WebhookEvent, verify_webhook

base_url, api_key, ref_id = sys.argv[1:]
client = Client(base_url, api_key)
config = client.call("GET", "/api/buyer/api/config")
events: "queue.Queue[WebhookEvent]" = queue.Queue()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))  # The bytes, before any parser of JSON.
        try:
            events.put(verify_webhook(dict(self.headers.items()), body, config["webhook_secret"]))
            status, answer = 200, b'{"status":"received"}'
        except WebhookError:
            status, answer = 401, b'{"status":"refused"}'
        self.send_response(status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
webhook_url = f"http://127.0.0.1:{server.server_port}/hooks/topup"
try:
    client.call("POST", "/api/buyer/api/config", {"webhook_url": webhook_url})

    client.deposit(amount=100_000, ref_id=f"deposit-{ref_id}")
    client.buy(code="S10", customer_number="081234561230", ref_id=ref_id)

    while True:
        event = events.get(timeout=60)
        if event.name == "transaction.success" and event.body["data"]["ref_id"] == ref_id:
            break
    print(json.dumps({"status": event.body["data"]["status"], "sn": event.body["data"]["sn"]}))
finally:
    client.call("POST", "/api/buyer/api/config", {"webhook_url": config["webhook_url"]})
    print(f"webhook_url is {config['webhook_url']} again.", file=sys.stderr)
