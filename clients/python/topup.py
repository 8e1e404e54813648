"""A client of the top-up service for Python 3.9 and later: one file, standard library only. README.md shows how to use it.

What it adds to plain HTTP is which calls may be repeated, how a webhook is verified, and how reseller calls are signed.
Money is whole rupiah, as int, in both directions.
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
    """The service refused: this call made nothing. Branch on `reason`, never on the message."""

    def __init__(self, http_status: int, failure: Json) -> None:
        errors, hint = failure.get("errors"), failure.get("data_hint")
        super().__init__(str(failure.get("message") or f"HTTP {http_status}"))
        self.http_status = http_status
        self.code: str = str(failure.get("code", ""))
        #: A word that stays: insufficient_balance, ref_id_conflict … Treat one that you do not know by `http_status`.
        self.reason: str = str(failure.get("reason", ""))
        #: [{"field": …, "message": …}]
        self.errors: List[Json] = errors if isinstance(errors, list) else []
        self.request_id: str = str(failure.get("request_id", ""))
        #: Of insufficient_balance: {"balance": …, "price": …} in rupiah.
        self.data_hint: Optional[Json] = hint if isinstance(hint, dict) else None


class OutcomeUnknownError(Exception):
    """An attempt had no answer: what was sent may have been done, unless it only reads.

    Send the same call, with the same ref_id, later; never a new ref_id for the same order. `__cause__` says what came instead.
    """

    def __init__(
        self, operation: str, ref_id: Optional[str], lost: Optional[Exception], is_read: bool = False
    ) -> None:
        if is_read:
            again = "It only reads: nothing was changed, and it may simply be repeated"
        elif ref_id is None:
            again = "Look at what it should have done before you repeat it"
        else:
            again = f"Ask again with ref_id {ref_id}"
        super().__init__(f"The outcome of {operation} is not known{f' ({lost})' if lost else ''}. {again}.")
        self.operation = operation
        self.ref_id = ref_id


class WebhookError(Exception):
    """It is not genuine, too old, or not of this service: answer 401."""


@dataclass(frozen=True)
class SendOptions:
    #: Of one attempt.
    timeout_s: float = 20.0
    attempts_max: int = 6
    #: The longest wait between two attempts, whatever the service asks for.
    wait_max_s: float = 60.0


#: POST that reads.
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
    """The wallet, buyer and seller calls, by API key. It holds no connection, and may be shared by threads."""

    def __init__(self, base_url: str, api_key: str, options: SendOptions = SendOptions()) -> None:
        self._base_url = base_url.rstrip("/")
        self._api_key = _sendable(api_key)
        self._options = options

    def call(
        self, method: str, path: str, body: Optional[Json] = None, query: Optional[Mapping[str, str]] = None
    ) -> Any:
        """Any call of /openapi.json; repeats it where that does the same once.

        Returns its `data`. Raises TopupError for a refusal, OutcomeUnknownError where no answer came, ValueError where a file
        did: that is for `download`.
        """
        return self._data_of(method, path, body, query, is_file=False)

    def download(self, path: str, query: Optional[Mapping[str, str]] = None) -> bytes:
        """The file of a report, a receipt or (with a `format`) a statement, as it is. `timeout_s` is for the whole of it.

        Where a proxy takes its length away (HTTP/1.0), that it is whole cannot be known: compare with the `size` of the report.
        Raises TopupError for a refusal, OutcomeUnknownError where no whole file came, ValueError where the answer is none.
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
            # The same bytes in every attempt.
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
                # This attempt made nothing. The one that was lost may have, if it was no read.
                raise OutcomeUnknownError(operation, ref_id, refusal) from refusal
            raise refusal
        data = sent.answer["data"]
        if isinstance(data, bytes) is not is_file:
            # It is the service's answer, and would be the same again.
            wrong = "no file: use call, or give a format" if is_file else "a file: use download"
            raise ValueError(f"{operation} answers {wrong}")
        return data

    def balance(self) -> int:
        """Rupiah that can be spent now."""
        return int(self.call("POST", "/api/buyer/balance")["balance"])

    def buy(self, *, code: str, customer_number: str, ref_id: str, max_price: Optional[int] = None) -> Json:
        """Buys a prepaid product, once for its ref_id: make that once for an order, and store it before the first call."""
        return self._order("/api/buyer/transaction", code, customer_number, ref_id, max_price)

    def pay(self, *, code: str, customer_number: str, ref_id: str, max_price: Optional[int] = None) -> Json:
        """Pays a bill, once for its ref_id."""
        return self._order("/api/buyer/payment", code, customer_number, ref_id, max_price)

    def deposit(self, *, amount: int, ref_id: str) -> Json:
        """Deposits rupiah, once for its ref_id."""
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
        """A transaction as it is now."""
        return self.call("GET", f"/api/buyer/transactions/{quote(_required(ref_id), safe='')}")

    def wait_for_result(self, ref_id: str, *, timeout_s: float = 60.0, every_s: float = 2.0) -> Json:
        """Asks until a transaction is final; for when no webhook came. Returns it as it is when the time is over."""
        ends_at = time.monotonic() + timeout_s
        while True:
            found = self.transaction(ref_id)
            if found["status"] in ("success", "failed") or time.monotonic() + every_s > ends_at:
                return found
            time.sleep(every_s)

    def transactions(self, **filters: Any) -> Iterator[Json]:
        """Every transaction, newest first, page by page. What is bought meanwhile is not among them, and none comes twice for it.

        Of one `status` some may be missed: what leaves it meanwhile moves those behind it to earlier pages.
        """
        # An end_date of ours would hold the pages still, and hide what is new where this clock is behind the service's.
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
    """HMAC-SHA256 with the API key, lower-case hex, over the username and what the call covers, joined by `|`."""
    return hmac.new(api_key.encode(), "|".join([username, *covers]).encode(), hashlib.sha256).hexdigest()


class ResellerClient:
    """The reseller surface: signed GET calls. Each answer has its code in `status`; `05` is under way."""

    def __init__(
        self, base_url: str, username: str, api_key: str, options: SendOptions = SendOptions()
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._username = username
        self._api_key = _sendable(api_key)
        self._options = options

    def request(self, *, code: str, customer: str, ref_id: str, max_price: Optional[int] = None) -> Json:
        """Buys, once for its ref_id; the same call again is the status check."""
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
    """The service's own: a success with its data, or a refusal. Anything else leaves open what was done."""
    if http_status >= 400:
        return _is_service_refusal(answer)
    return answer["status"] == "success" and isinstance(answer.get("data"), (dict, list, bytes))


def _is_reseller_answer(http_status: int, answer: Json) -> bool:
    """The service's own: with a code in `status`, or a refusal from before this surface."""
    status = answer["status"]
    if not isinstance(status, str):
        return False
    return re.fullmatch(r"[0-9]{2}", status) is not None or (http_status >= 400 and _is_service_refusal(answer))


def _is_service_refusal(answer: Json) -> bool:
    """With one of its codes and a reason. What calls itself an error without them is of somebody in between, who may have sent the
    call on."""
    code = answer.get("code")
    return (
        answer["status"] == "error"
        and isinstance(code, str)
        and re.fullmatch(r"[0-9]{2}", code) is not None
        and isinstance(answer.get("reason"), str)
    )


def _leaves_open(answer: Json) -> bool:
    """Its database or queue went away, maybe after it had written what was asked for."""
    return answer.get("reason") == "service_unavailable"


def _sendable(api_key: str) -> str:
    """A header, and an address, take no others: said once, before anything is sent."""
    if not re.fullmatch(r"[\x21-\x7e]*", api_key):
        raise ValueError("api_key has a space, a line break or a sign that no key has: copy it again")
    return api_key


def _is_reseller_refusal(answer: Json) -> bool:
    """Whether the call made nothing. A transaction that failed exists."""
    return answer["status"] not in ("00", "05") and answer.get("reason") != "transaction_failed"


class WebhookEvent(NamedTuple):
    #: The same in every attempt: store it to recognise repetitions.
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
    """Verifies a webhook or callback. `body` is what came, byte for byte, before any parser of JSON.

    `headers` may be written in any case, and have lists of values. `secret` is that of the endpoint (of callbacks that of `default`): whsec_… `tolerance_s`
    refuses what was signed longer ago, or is of the future; `now_s` is for tests. Raises WebhookError for what is not genuine.
    """
    if not re.fullmatch(r"whsec_[A-Za-z0-9+/]+=*", secret):
        raise ValueError("secret must be the webhook secret: whsec_…")
    if not isinstance(body, (bytes, bytearray)):
        raise TypeError("body must be the bytes as they came, not what was made of them")
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
    # Two while a secret is replaced. Each is compared, whatever the one before was.
    matches = [
        hmac.compare_digest(each.encode("utf-8", "replace"), expected)
        for each in header("webhook-signature").split(" ")
    ]
    if True not in matches:
        raise WebhookError(
            "The signature is not right: another secret, or a body that was changed or parsed on its way."
        )
    now = time.time() if now_s is None else now_s
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > tolerance_s:
        raise WebhookError(f"It was signed more than {tolerance_s} s ago, or your clock is wrong.")
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise WebhookError("The body is no JSON object.")
    # The header is not signed, so a name in the body wins.
    name = parsed.get("event")
    return WebhookEvent(event_id, name if isinstance(name, str) else header("x-event"), parsed)


class _Sent(NamedTuple):
    """`answer` is None where none came. `lost` says why an attempt had none: that one may have been done, so a refusal is
    believed only where it is None."""

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
    """429 and 503 made nothing, so they are repeated whatever was sent; no answer, and one that leaves the outcome open, only where
    the same again does the same once.

    Where `maybe_file`, a success may be a file, whose bytes stand as its `data` then.
    """
    sent = _Sent(0, None, ValueError("attempts_max is 0"))
    lost: Optional[Exception] = None
    for attempt in range(1, options.attempts_max + 1):
        retry_after_s: Optional[float] = None
        try:
            status, retry_after_s, is_attached, text = _send_once(method, url, headers, content, options.timeout_s)
            if is_attached and status < 300:
                # The service sends its files as attachments; the page of a proxy is none, and 206 is a part of one.
                answer = {"status": "success", "data": text} if maybe_file and status == 200 else None
            else:
                answer = _parsed(text)
            # Of a proxy, whatever HTTP status it has, or a fault of the service itself: whether it was done is not known.
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
    """Not urllib.request: that follows redirects, and takes the key along."""
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
                raise TimeoutError(f"no whole answer within {timeout_s} s")
            if response.length:
                # read1 ends quietly where a connection breaks.
                raise http.client.IncompleteRead(b"", response.length)
            return (
                response.status,
                float(after) if re.fullmatch(r"[0-9]{1,6}", after) else None,
                re.match(r"attachment\b", response.getheader("content-disposition") or "", re.IGNORECASE) is not None,
                b"".join(chunks),
            )


@contextlib.contextmanager
def _shut_down_at(ends_at: float, connected: socket.socket) -> Iterator[threading.Event]:
    """A socket's own limit is for each byte: an answer that drips would have no end. The event says that it was ended so."""
    is_late = threading.Event()

    def give_up() -> None:
        is_late.set()
        with contextlib.suppress(OSError):
            # The plain socket's, beside whoever reads: that of TLS is for one thread.
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, ends_at - time.monotonic()), give_up)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def _parsed(text: bytes) -> Optional[Json]:
    """The answer, or None for what is not one of the service."""
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
        raise TypeError("ref_id is missing: make one for the order and store it before you call")
    if ref_id in (".", "..", "lookup"):
        # The service refuses them as well.
        raise ValueError(f'ref_id cannot be "{ref_id}", which means something else in an address')
    return ref_id


def _rupiah(name: str, value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be whole rupiah, as int")
    return value
