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
        body = self.rfile.read(int(self.headers["content-length"]))  # The bytes, before any parser of JSON.
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
    on_signals(signal.SIG_IGN)  # A second one would come in the middle of removing the endpoint.
    sys.exit("Interrupted.")


def remove_endpoint(tries: int = 5) -> None:
    for left in reversed(range(tries)):
        try:
            # By its URL, because the answer that has its id may be lost.
            for each in client.call("GET", "/api/buyer/webhooks"):
                if each["url"] == url:
                    client.call("DELETE", f"/api/buyer/webhooks/{each['id']}")
            return
        except (TopupError, OutcomeUnknownError) as error:
            # The client repeats nothing that changes something without a ref_id, but this may be done twice.
            if isinstance(error, TopupError) or left == 0:
                print(f"The webhook endpoint {url} must be removed.", file=sys.stderr)
                raise
            time.sleep(1)


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
url = f"http://127.0.0.1:{server.server_port}/hooks/topup"
stopped = []
on_signals(lambda *_: stopped.append(True))  # Broken off, the next call could arrive after the endpoint was looked for.
try:
    # An endpoint of its own: a webhook_url that the account has stays what it is.
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
            sys.exit(f"No webhook within 60 s. Is {ref_id} a ref_id that was used before?")
        if event.name == "transaction.success" and event.body["data"]["ref_id"] == ref_id:
            break
    print(json.dumps({"status": event.body["data"]["status"], "sn": event.body["data"]["sn"]}))
except (TopupError, OutcomeUnknownError) as error:
    sys.exit(str(error))
finally:
    on_signals(signal.SIG_IGN)
    remove_endpoint()
