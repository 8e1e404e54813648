"""python3 quick_start.py <address> <buyer key> <ref_id>: deposits, buys, and waits for the verified webhook."""

import json
import queue
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from topup import Client, OutcomeUnknownError, TopupError, WebhookError, WebhookEvent, verify_webhook

if len(sys.argv) != 4:
    sys.exit(__doc__)
base_url, api_key, ref_id = sys.argv[1:]
client = Client(base_url, api_key)
try:
    config = client.call("GET", "/api/buyer/api/config")
except TopupError as error:
    sys.exit(f"Give a buyer's key (bk_test_…) of this service: {error}")
except (OutcomeUnknownError, ValueError) as error:
    sys.exit(str(error))
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


def on_signals(handler: Any) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, handler)


def stop(*_: object) -> None:
    on_signals(signal.SIG_IGN)  # A second one would come in the middle of putting back.
    sys.exit("Interrupted.")


def put_back(tries: int = 5) -> None:
    before = config["webhook_url"]
    for left in reversed(range(tries)):
        try:
            client.call("POST", "/api/buyer/api/config", {"webhook_url": before})
            print(f"webhook_url is {before} again.", file=sys.stderr)
            return
        except (TopupError, OutcomeUnknownError) as error:
            # The client repeats nothing that has no ref_id, but the same address may be set twice.
            if isinstance(error, TopupError) or left == 0:
                print(f"webhook_url was {before}, and must be set to that again.", file=sys.stderr)
                raise
            time.sleep(1)


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
webhook_url = f"http://127.0.0.1:{server.server_port}/hooks/topup"
stopped = []
on_signals(lambda *_: stopped.append(True))  # Broken off, this call could arrive after that which puts back.
try:
    client.call("POST", "/api/buyer/api/config", {"webhook_url": webhook_url})
    on_signals(stop)
    if stopped:
        stop()

    client.deposit(amount=100_000, ref_id=f"deposit-{ref_id}")
    client.buy(code="S10", customer_number="081234561230", ref_id=ref_id)

    while True:
        try:
            event = events.get(timeout=60)
        except queue.Empty:
            sys.exit(f"No webhook within 60 s. Is {ref_id} a ref_id that was used before?")
        if event.name == "transaction.success" and event.body["data"]["ref_id"] == ref_id:
            break
    print(json.dumps({"status": event.body["data"]["status"], "sn": event.body["data"]["sn"]}))
finally:
    on_signals(signal.SIG_IGN)
    put_back()
