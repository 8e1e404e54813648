"""Runs each JSON command on stdin, {"do": …, "with": …, "url": …}, and prints its result."""

import base64
import json
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "clients/python"))

from topup import (  # noqa: E402
    Client,
    OutcomeUnknownError,
    ResellerClient,
    SendOptions,
    TopupError,
    WebhookError,
    verify_webhook,
)


def play(command):
    options = SendOptions(timeout_s=5, attempts_max=4, wait_max_s=0.05)
    client = Client(command.get("url", ""), command.get("key", ""), options)
    reseller = ResellerClient(command.get("url", ""), command.get("username", ""), command.get("key", ""), options)
    given = command.get("with", {})
    does = {
        "buy": lambda: client.buy(**given),
        "deposit": lambda: client.deposit(**given),
        "balance": client.balance,
        "createEndpoint": lambda: client.call("POST", "/api/buyer/webhooks", given),
        "listEndpoints": lambda: [each["id"] for each in client.call("get", "/api/buyer/webhooks")],
        "waitForResult": lambda: client.wait_for_result(given["ref_id"]),
        "transactions": lambda: [each["ref_id"] for each in client.transactions(**given)],
        "statement": lambda: [each["balance"] for each in client.statement(**given)],
        "download": lambda: base64.b64encode(
            client.download(f"/api/buyer/reports/{given['id']}/download")
        ).decode(),
        "callReport": lambda: client.call("GET", f"/api/buyer/reports/{given['id']}/download"),
        "callStatement": lambda: client.call("GET", "/api/buyer/statement", query=given),
        "downloadStatement": lambda: base64.b64encode(client.download("/api/buyer/statement", given)).decode(),
        "resellerRequest": lambda: reseller.request(**given),
        "resellerBalance": reseller.balance,
        "resellerPriceList": lambda: reseller.price_list(**given),
        "verify": lambda: verify_webhook(
            given["headers"], given["body"].encode(), given["secret"], now_s=given["now"]
        )._asdict(),
    }
    return does[command["do"]]()


for line in sys.stdin:
    command = json.loads(line)
    try:
        result = {"ok": play(command)}
    except TopupError as error:
        result = {"error": "refused", "httpStatus": error.http_status, "code": error.code, "reason": error.reason}
    except OutcomeUnknownError as error:
        result = {"error": "unknown", "refId": error.ref_id}
        if command.get("tellsMessage"):
            result["message"] = str(error)
    except WebhookError as error:
        result = {"error": "forged", "message": str(error)}
    except (TypeError, ValueError) as error:
        result = {"error": "usage", "message": str(error)}
    print(json.dumps(result), flush=True)
