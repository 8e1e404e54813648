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
try:
    client = Client(base_url, api_key)
    client.call("GET", "/api/buyer/webhooks")
except TopupError as error:
    sys.exit(f"Give a buyer's key (bk_test_…) of this service: {error}")
except (OutcomeUnknownError, ValueError) as error:
    sys.exit(str(error))
events: "queue.Queue[WebhookEvent]" = queue.Queue()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))  # The raw bytes, before any JSON parser.
        try:
            events.put(verify_webhook(dict(self.headers.items()), body, endpoint["secret"]))
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
    on_signals(signal.SIG_IGN)  # A second signal would interrupt the removal of the endpoint.
    sys.exit("Interrupted.")


def remove_endpoint(tries: int = 5) -> None:
    for left in reversed(range(tries)):
        try:
            # Find it by URL, because the response with its id may be lost.
            for each in client.call("GET", "/api/buyer/webhooks"):
                if each["url"] == url:
                    client.call("DELETE", f"/api/buyer/webhooks/{each['id']}")
            return
        except (TopupError, OutcomeUnknownError) as error:
            # The client does not repeat writes without a ref_id, but this one is safe to repeat.
            if isinstance(error, TopupError) or left == 0:
                print(f"Could not remove the webhook endpoint {url}. Remove it yourself.", file=sys.stderr)
                raise
            time.sleep(1)


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
url = f"http://127.0.0.1:{server.server_port}/hooks/topup"
stopped = []
# Do not interrupt the next call: its endpoint might be created after the search for it.
on_signals(lambda *_: stopped.append(True))
try:
    # Use a separate endpoint, so that the webhook_url of the account does not change.
    endpoint = client.call("POST", "/api/buyer/webhooks", {"url": url, "events": ["transaction.*"]})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    on_signals(stop)
    if stopped:
        stop()

    client.deposit(amount=100_000, ref_id=f"deposit-{ref_id}")
    client.buy(code="S10", customer_number="081234561230", ref_id=ref_id)

    ends_at = time.monotonic() + 60
    while True:
        try:
            event = events.get(timeout=max(0.0, ends_at - time.monotonic()))
        except queue.Empty:
            sys.exit(f"No webhook within 60 s. Was ref_id {ref_id} used before?")
        if event.name == "transaction.success" and event.body["data"]["ref_id"] == ref_id:
            break
    print(json.dumps({"status": event.body["data"]["status"], "sn": event.body["data"]["sn"]}))
except (TopupError, OutcomeUnknownError) as error:
    sys.exit(str(error))
finally:
    on_signals(signal.SIG_IGN)
    remove_endpoint()
