"""A client of the top-up service for Python 3.9 and later: one file, standard library only.

It adds safe retries, webhook verification and signatures of reseller calls to plain HTTP. Money is
whole rupiah, as int, in both directions. README.md shows how to use it.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import hmac
import http.client
import json
import re
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Union
from urllib.parse import quote, urlencode, urlsplit

__all__ = [
    "Client",
    "OutcomeUnknownError",
    "ResellerClient",
    "SendOptions",
    "TopupError",
    "WebhookError",
    "WebhookEvent",
    "reseller_sign",
    "verify_webhook",
]

Json = Dict[str, Any]


class TopupError(Exception):
    """The service refused the call, which had no effect. Branch on `reason`, never on the text."""

    def __init__(self, http_status: int, failure: Json) -> None:
        errors, hint = failure.get("errors"), failure.get("data_hint")
        super().__init__(str(failure.get("message") or f"HTTP {http_status}"))
        self.http_status = http_status
        self.code: str = str(failure.get("code", ""))
        #: Stable, for example insufficient_balance. For unknown reasons use `http_status`.
        self.reason: str = str(failure.get("reason", ""))
        #: [{"field": …, "message": …}]
        self.errors: List[Json] = errors if isinstance(errors, list) else []
        self.request_id: str = str(failure.get("request_id", ""))
        #: {"balance": …, "price": …} in rupiah. Only set for insufficient_balance.
        self.data_hint: Optional[Json] = hint if isinstance(hint, dict) else None


class OutcomeUnknownError(Exception):
    """No attempt returned a conclusive response.

    The call may have taken effect, unless it only reads. Repeat the same call later with the same
    ref_id. Never use a new ref_id for the same order. `__cause__` is the reason.
    """

    def __init__(
        self, operation: str, ref_id: Optional[str], lost: Optional[Exception], is_read: bool = False
    ) -> None:
        if is_read:
            again = "This call only reads and can be repeated"
        elif ref_id is None:
            again = "Check whether it took effect before you repeat it"
        else:
            again = f"Repeat the call with ref_id {ref_id}"
        super().__init__(f"The outcome of {operation} is unknown{f' ({lost})' if lost else ''}. {again}.")
        self.operation = operation
        self.ref_id = ref_id


class WebhookError(Exception):
    """The webhook is forged, too old, or not from this service. Respond with 401."""


@dataclass(frozen=True)
class SendOptions:
    #: Time limit of one attempt.
    timeout_s: float = 20.0
    attempts_max: int = 6
    #: The longest wait between two attempts, even if the service requests a longer one.
    wait_max_s: float = 60.0


#: POST calls that only read.
_READS = frozenset(
    "/api/" + path
    for path in (
        "buyer/balance",
        "buyer/price-list",
        "buyer/inquiry",
        "buyer/transactions",
        "buyer/transactions/lookup",
        "seller/transactions",
    )
)


class Client:
    """The wallet, buyer and seller calls. It holds no connection, so threads may share it."""

    def __init__(self, base_url: str, api_key: str, options: SendOptions = SendOptions()) -> None:
        self._base_url = base_url.rstrip("/")
        self._api_key = _sendable(api_key)
        self._options = options

    def call(
        self, method: str, path: str, body: Optional[Json] = None, query: Optional[Mapping[str, str]] = None
    ) -> Any:
        """Makes any call of /openapi.json, and retries it after a failure if that is safe.

        Returns the `data` of the response. Raises TopupError if the service refuses the call, and
        OutcomeUnknownError if the outcome is unknown after the last attempt. Raises ValueError if
        the call returns a file: use `download`.
        """
        return self._data_of(method, path, body, query, is_file=False)

    def download(self, path: str, query: Optional[Mapping[str, str]] = None) -> bytes:
        """Downloads a report, a receipt or a statement. Returns the bytes unchanged.

        A statement requires a `format`. `timeout_s` limits the whole download. If a proxy removes
        the content length (HTTP/1.0), an incomplete file cannot be detected. In that case compare
        the number of bytes with the `size` of the report.

        Raises TopupError if the service refuses the call, OutcomeUnknownError if no complete file
        arrived, and ValueError if the call returns no file.
        """
        return bytes(self._data_of("GET", path, None, query, is_file=True))

    def _data_of(
        self, method: str, path: str, body: Optional[Json], query: Optional[Mapping[str, str]], *, is_file: bool
    ) -> Any:
        method, ref_id = method.upper(), _ref_id_of(body)
        operation = f"{method} {path}"
        is_read = method == "GET" or path in _READS
        headers = {"Authorization": f"Bearer {self._api_key}", "Accept": "*/*" if is_file else "application/json"}
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            # Every attempt sends the same bytes.
            content = json.dumps(body, allow_nan=False).encode()
        sent = _send(
            method,
            self._base_url + path + (f"?{urlencode(query)}" if query else ""),
            headers,
            content,
            self._options,
            is_repeatable=is_read or ref_id is not None,
            is_answer=_is_answer,
            maybe_file=method == "GET",
        )
        if sent.answer is None:
            raise OutcomeUnknownError(operation, ref_id, sent.lost, is_read) from sent.lost
        if sent.status >= 400:
            refusal = TopupError(sent.status, sent.answer)
            if sent.lost is not None and ref_id is not None and not is_read:
                # This attempt had no effect, but a lost earlier attempt may have had one.
                raise OutcomeUnknownError(operation, ref_id, refusal) from refusal
            raise refusal
        data = sent.answer["data"]
        if isinstance(data, bytes) is not is_file:
            # A retry would get the same response.
            wrong = "no file: use call, or set a format" if is_file else "a file: use download"
            raise ValueError(f"{operation} returns {wrong}")
        return data

    def balance(self) -> int:
        """The available balance in rupiah."""
        return int(self.call("POST", "/api/buyer/balance")["balance"])

    def buy(self, *, code: str, customer_number: str, ref_id: str, max_price: Optional[int] = None) -> Json:
        """Buys a prepaid product, once per ref_id.

        Create the ref_id once per order and store it before the first call.
        """
        return self._order("/api/buyer/transaction", code, customer_number, ref_id, max_price)

    def pay(self, *, code: str, customer_number: str, ref_id: str, max_price: Optional[int] = None) -> Json:
        """Pays a bill, once per ref_id."""
        return self._order("/api/buyer/payment", code, customer_number, ref_id, max_price)

    def deposit(self, *, amount: int, ref_id: str) -> Json:
        """Deposits rupiah, once per ref_id."""
        return self.call(
            "POST",
            "/api/buyer/deposit",
            {"amount": _rupiah("amount", amount), "ref_id": _required(ref_id)},
        )

    def _order(
        self, path: str, code: str, customer_number: str, ref_id: str, max_price: Optional[int]
    ) -> Json:
        body: Json = {"code": code, "customer_number": customer_number, "ref_id": _required(ref_id)}
        if max_price is not None:
            body["max_price"] = _rupiah("max_price", max_price)
        return self.call("POST", path, body)

    def transaction(self, ref_id: str) -> Json:
        """The current state of a transaction."""
        return self.call("GET", f"/api/buyer/transactions/{quote(_required(ref_id), safe='')}")

    def wait_for_result(self, ref_id: str, *, timeout_s: float = 60.0, every_s: float = 2.0) -> Json:
        """Polls until a transaction is final, in case the webhook does not arrive.

        Returns the final transaction, or its current state when the time limit ends.
        """
        ends_at = time.monotonic() + timeout_s
        while True:
            found = self.transaction(ref_id)
            if found["status"] in ("success", "failed") or time.monotonic() + every_s > ends_at:
                return found
            time.sleep(every_s)

    def transactions(self, **filters: Any) -> Iterator[Json]:
        """Every transaction, newest first, page by page.

        Purchases made during the iteration are not included, and no transaction is repeated. With a
        `status` filter, some transactions may be missed: if one leaves the status, later ones move
        to earlier pages.
        """
        # Do not add an end_date to freeze the pages. If the clock of this machine is behind, the
        # end_date would hide new transactions.
        body: Json = {"limit": 100, **filters}
        seen: Set[str] = set()
        page = 1
        while True:
            found = self.call("POST", "/api/buyer/transactions", {**body, "page": page})
            for transaction in found["transactions"]:
                if transaction["transaction_id"] not in seen:
                    seen.add(transaction["transaction_id"])
                    yield transaction
            if page >= found["pagination"]["total_pages"]:
                return
            page += 1

    def statement(self, **filters: str) -> Iterator[Json]:
        """Every movement of the wallet, oldest first. Filters: start_date, end_date."""
        query: Mapping[str, str] = filters
        while True:
            found = self.call("GET", "/api/buyer/statement", query=query)
            yield from found["entries"]
            if found["next_cursor"] is None:
                return
            query = {"cursor": found["next_cursor"]}


def reseller_sign(username: str, api_key: str, covers: List[str]) -> str:
    """HMAC-SHA256 with the API key, in hex, over username and covered values, joined by `|`."""
    return hmac.new(api_key.encode(), "|".join([username, *covers]).encode(), hashlib.sha256).hexdigest()


class ResellerClient:
    """The reseller API: signed GET calls. `status` of a response is its result code."""

    def __init__(
        self, base_url: str, username: str, api_key: str, options: SendOptions = SendOptions()
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._username = username
        self._api_key = _sendable(api_key)
        self._options = options

    def request(self, *, code: str, customer: str, ref_id: str, max_price: Optional[int] = None) -> Json:
        """Buys, once per ref_id. Repeat the call to check the status."""
        query = {"code": code, "customer": customer, "ref_id": _required(ref_id)}
        if max_price is not None:
            query["max_price"] = str(_rupiah("max_price", max_price))
        return self._get("request", [code, customer, ref_id], query)

    def price_list(self, **filters: str) -> Json:
        """Filters: category, operator."""
        return self._get("price-list", ["pricelist"], filters)

    def balance(self) -> Json:
        return self._get("balance", ["depo"], {})

    def _get(self, path: str, covers: List[str], query: Mapping[str, str]) -> Json:
        sign = reseller_sign(self._username, self._api_key, covers)
        text = urlencode({"username": self._username, "sign": sign, **query})
        url = f"{self._base_url}/api/reseller/{path}?{text}"
        sent = _send(
            "GET",
            url,
            {"Accept": "application/json"},
            None,
            self._options,
            is_repeatable=True,
            is_answer=_is_reseller_answer,
        )
        answer, ref_id = sent.answer, query.get("ref_id")
        if answer is None or (ref_id and sent.lost is not None and _is_reseller_refusal(answer)):
            raise OutcomeUnknownError(path, ref_id, sent.lost, is_read=ref_id is None) from sent.lost
        return answer


def _is_answer(http_status: int, answer: Json) -> bool:
    """True for a response from the service. After any other response, the outcome is unknown."""
    if http_status >= 400:
        return _is_service_refusal(answer)
    return answer["status"] == "success" and isinstance(answer.get("data"), (dict, list, bytes))


def _is_reseller_answer(http_status: int, answer: Json) -> bool:
    """True for a response from the service: a result code, or a refusal before the reseller API."""
    status = answer["status"]
    if not isinstance(status, str):
        return False
    return re.fullmatch(r"[0-9]{2}", status) is not None or (http_status >= 400 and _is_service_refusal(answer))


def _is_service_refusal(answer: Json) -> bool:
    """True if the service has refused the call. It then sends one of its codes and a reason.

    Other errors come from a proxy, which may have forwarded the call.
    """
    code = answer.get("code")
    return (
        answer["status"] == "error"
        and isinstance(code, str)
        and re.fullmatch(r"[0-9]{2}", code) is not None
        and isinstance(answer.get("reason"), str)
    )


def _leaves_open(answer: Json) -> bool:
    """True if the service lost its database or queue, possibly after the write."""
    return answer.get("reason") == "service_unavailable"


def _sendable(api_key: str) -> str:
    """Raises ValueError if the API key has characters that headers and URLs do not allow."""
    if not re.fullmatch(r"[\x21-\x7e]*", api_key):
        raise ValueError("api_key has a space, a line break or an invalid character: copy the key again")
    return api_key


def _is_reseller_refusal(answer: Json) -> bool:
    """True if the call had no effect. A failed transaction is not a refusal, because it exists."""
    return answer["status"] not in ("00", "05") and answer.get("reason") != "transaction_failed"


class WebhookEvent(NamedTuple):
    #: The same in every attempt. Store it to recognize repeated deliveries.
    id: str
    #: transaction.success, callback.wallet …
    name: str
    body: Json


def verify_webhook(
    headers: Mapping[str, Union[str, Sequence[str]]],
    body: bytes,
    secret: str,
    *,
    tolerance_s: int = 300,
    now_s: Optional[float] = None,
) -> WebhookEvent:
    """Verifies a webhook or callback. `body` is the raw body, before any JSON parser.

    Names of `headers` may be in upper or lower case, and values may be lists. `secret` is the
    secret of the endpoint (`whsec_…`). For callbacks, use the secret of the endpoint `default`.
    `tolerance_s` is the maximum difference between the time of the signature and now. Tests set
    `now_s`. Raises WebhookError if the webhook is forged, too old, or not from this service.
    """
    if not re.fullmatch(r"whsec_[A-Za-z0-9+/]+=*", secret):
        raise ValueError("secret must be the webhook secret: whsec_…")
    if not isinstance(body, (bytes, bytearray)):
        raise TypeError("body must be the raw bytes, not decoded or parsed")
    given = {name.lower(): value for name, value in headers.items()}

    def header(name: str) -> str:
        value = given.get(name)
        if isinstance(value, (list, tuple)):
            value = ", ".join(value)
        if not isinstance(value, str):
            raise WebhookError(f"The header {name} is missing.")
        return value

    event_id, timestamp = header("webhook-id"), header("webhook-timestamp")
    key = base64.b64decode(secret[len("whsec_") :])
    mac = hmac.new(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = b"v1," + binascii.b2a_base64(mac.digest(), newline=False)
    # There are two signatures while a secret is rotated. Compare all of them, in constant time.
    matches = [
        hmac.compare_digest(each.encode("utf-8", "replace"), expected)
        for each in header("webhook-signature").split(" ")
    ]
    if True not in matches:
        raise WebhookError(
            "Wrong signature: the secret differs, or the body was changed or parsed before verification."
        )
    now = time.time() if now_s is None else now_s
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > tolerance_s:
        raise WebhookError(f"The webhook was not signed within {tolerance_s} s of now. Check your clock.")
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise WebhookError("The body is not a JSON object.")
    # The header is not signed, so the name in the body takes precedence.
    name = parsed.get("event")
    return WebhookEvent(event_id, name if isinstance(name, str) else header("x-event"), parsed)


class _Sent(NamedTuple):
    """`answer` is None if no conclusive response arrived. `lost` is why an attempt got none.

    A lost attempt may have taken effect, so a refusal is conclusive only if `lost` is None.
    """

    status: int
    answer: Optional[Json]
    lost: Optional[Exception]


def _send(
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: Optional[bytes],
    options: SendOptions,
    *,
    is_repeatable: bool,
    is_answer: Callable[[int, Json], bool],
    maybe_file: bool = False,
) -> _Sent:
    """Sends a request and retries it until there is a conclusive response.

    A refusal by the service with status 429 or 503 means that the request had no effect, so every
    request is retried. If there is no response from the service, or the outcome is unknown, only
    repeatable requests are retried. With `maybe_file`, a successful response may be a file. Its
    bytes then become the `data`.
    """
    sent = _Sent(0, None, ValueError("attempts_max is 0"))
    lost: Optional[Exception] = None
    for attempt in range(1, options.attempts_max + 1):
        retry_after_s: Optional[float] = None
        try:
            status, retry_after_s, is_attached, text = _send_once(method, url, headers, content, options.timeout_s)
            if is_attached and status < 300:
                # The service sends files as attachments, and error pages of proxies are not
                # attachments. 206 is a partial file.
                answer = {"status": "success", "data": text} if maybe_file and status == 200 else None
            else:
                answer = _parsed(text)
            # A response of a proxy may have any HTTP status. After such a response, or after an
            # internal error of the service, the outcome is unknown.
            is_fault = 300 <= status < 400 or (status >= 500 and status != 503)
            if answer is None or is_fault or not is_answer(status, answer) or _leaves_open(answer):
                raise ConnectionError(f"HTTP {status}: {text[:200].decode('utf-8', 'replace')}")
            sent = _Sent(status, answer, lost)
        except (OSError, http.client.HTTPException) as error:
            lost = error
            sent = _Sent(0, None, lost)
        is_refused_for_now = sent.answer is not None and sent.status in (429, 503)
        if not is_refused_for_now and (sent.answer is not None or not is_repeatable):
            break
        if attempt < options.attempts_max:
            wait_s = 0.5 * 2 ** (attempt - 1) if retry_after_s is None else retry_after_s
            time.sleep(min(wait_s, options.wait_max_s))
    return sent


def _send_once(
    method: str, url: str, headers: Mapping[str, str], content: Optional[bytes], timeout_s: float
) -> "tuple[int, Optional[float], bool, bytes]":
    """Sends one attempt. Does not use urllib.request, which forwards the key on a redirect."""
    parts = urlsplit(url)
    connection: Union[http.client.HTTPConnection, http.client.HTTPSConnection]
    if parts.scheme == "https":
        connection = http.client.HTTPSConnection(
            parts.netloc, timeout=timeout_s, context=ssl.create_default_context()
        )
    elif parts.scheme == "http":
        connection = http.client.HTTPConnection(parts.netloc, timeout=timeout_s)
    else:
        raise ValueError("base_url must begin with https:// or http://")
    with contextlib.closing(connection):
        ends_at = time.monotonic() + timeout_s
        connection.connect()
        with _shut_down_at(ends_at, connection.sock) as is_late:
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            connection.request(method, path, body=content, headers=dict(headers))
            response = connection.getresponse()
            after = response.getheader("retry-after") or ""
            chunks = list(iter(lambda: response.read1(65_536), b""))
            if is_late.is_set():
                raise TimeoutError(f"timed out after {timeout_s} s")
            if response.length:
                # read1 ends without an error when the connection breaks.
                raise http.client.IncompleteRead(b"", response.length)
            return (
                response.status,
                float(after) if re.fullmatch(r"[0-9]{1,6}", after) else None,
                re.match(r"attachment\b", response.getheader("content-disposition") or "", re.IGNORECASE) is not None,
                b"".join(chunks),
            )


@contextlib.contextmanager
def _shut_down_at(ends_at: float, connected: socket.socket) -> Iterator[threading.Event]:
    """Sets the event and shuts the socket down at the time limit.

    The timeout of a socket applies to each read, so a very slow response would never time out.
    """
    is_late = threading.Event()

    def give_up() -> None:
        is_late.set()
        with contextlib.suppress(OSError):
            # Shut down the plain socket. A TLS shutdown is not safe while another thread reads.
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, ends_at - time.monotonic()), give_up)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def _parsed(text: bytes) -> Optional[Json]:
    """Parses a response. Returns None if it is not a JSON object with a `status`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "status" in value else None


def _ref_id_of(body: Optional[Json]) -> Optional[str]:
    ref_id = body.get("ref_id") if body is not None else None
    return ref_id if isinstance(ref_id, str) and ref_id != "" else None


def _required(ref_id: str) -> str:
    if not isinstance(ref_id, str) or ref_id == "":
        raise TypeError("ref_id is missing: create one for the order and store it before the call")
    if ref_id in (".", "..", "lookup"):
        # The service also refuses these words.
        raise ValueError(f'ref_id cannot be "{ref_id}", which has another meaning in a URL')
    return ref_id


def _rupiah(name: str, value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int in whole rupiah")
    return value
