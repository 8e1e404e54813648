<?php

/**
 * A client of the top-up service for PHP 8.2 and later: one file, with the extensions curl and
 * json.
 *
 * It adds safe retries, webhook verification and signatures of reseller calls to plain HTTP. Money
 * is whole rupiah, as int, in both directions. README.md shows how to use it.
 */

declare(strict_types=1);

namespace Topup;

/** The service refused the call, which had no effect. Branch on `$reason`, never on the message. */
final class TopupError extends \RuntimeException
{
    /** Two digits. (PHP's exceptions already have a `code`.) */
    public readonly string $answerCode;
    /** Stable, for example insufficient_balance. For unknown reasons use `$httpStatus`. */
    public readonly string $reason;
    /** @var list<array{field: string, message: string}> */
    public readonly array $errors;
    public readonly string $requestId;
    /** @var array{balance: int, price: int}|null In rupiah. Only set for insufficient_balance. */
    public readonly ?array $dataHint;

    /** @param array<string, mixed> $failure */
    public function __construct(public readonly int $httpStatus, array $failure)
    {
        $text = static fn (string $name): ?string => is_scalar($failure[$name] ?? null) ? (string) $failure[$name] : null;
        parent::__construct($text('message') ?? "HTTP $httpStatus");
        $this->answerCode = $text('code') ?? '';
        $this->reason = $text('reason') ?? '';
        $this->errors = is_array($failure['errors'] ?? null) ? $failure['errors'] : [];
        $this->requestId = $text('request_id') ?? '';
        $this->dataHint = is_array($failure['data_hint'] ?? null) ? $failure['data_hint'] : null;
    }
}

/**
 * No attempt returned a conclusive response. The call may have taken effect, unless it only reads.
 * Repeat the same call later with the same ref_id. Never use a new ref_id for the same order.
 * `getPrevious()` returns the reason.
 */
final class OutcomeUnknownError extends \RuntimeException
{
    public function __construct(
        public readonly string $operation,
        public readonly ?string $refId,
        ?\Throwable $previous,
        bool $isRead = false,
    ) {
        $again = match (true) {
            $isRead => 'This call only reads and can be repeated',
            $refId === null => 'Check whether it took effect before you repeat it',
            default => "Repeat the call with ref_id $refId",
        };
        $because = $previous === null ? '' : " ({$previous->getMessage()})";
        parent::__construct("The outcome of $operation is unknown$because. $again.", 0, $previous);
    }
}

/** The webhook is forged, too old, or not from this service. Respond with 401. */
final class WebhookError extends \RuntimeException
{
}

final class SendOptions
{
    /**
     * @param int $timeoutMs Time limit of one attempt.
     * @param int $waitMaxMs The longest wait between two attempts, even if the service requests
     *     more.
     */
    public function __construct(
        public readonly int $timeoutMs = 20_000,
        public readonly int $attemptsMax = 6,
        public readonly int $waitMaxMs = 60_000,
    ) {
    }
}

/** The wallet, buyer and seller calls. */
final class Client
{
    /** POST calls that only read. */
    private const READS = [
        '/api/buyer/balance',
        '/api/buyer/price-list',
        '/api/buyer/inquiry',
        '/api/buyer/transactions',
        '/api/buyer/transactions/lookup',
        '/api/seller/transactions',
    ];
    private readonly Sender $sender;

    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] private readonly string $apiKey,
        SendOptions $options = new SendOptions(),
    ) {
        requireSendable($apiKey);
        $this->sender = new Sender($baseUrl, $options);
    }

    /**
     * Makes any call of /openapi.json, and retries it after a failure if that is safe.
     *
     * @param array<string, mixed>|null $body
     * @param array<string, string> $query
     * @return mixed the `data` of the response
     * @throws TopupError if the service refuses the call
     * @throws OutcomeUnknownError if the outcome is unknown after the last attempt
     * @throws \InvalidArgumentException if the call returns a file: use `download`
     */
    public function call(string $method, string $path, ?array $body = null, array $query = []): mixed
    {
        return $this->dataOf($method, $path, $body, $query, isFile: false);
    }

    /**
     * Downloads a report, a receipt or a statement. A statement requires a `format`. The bytes are
     * returned unchanged. `timeoutMs` limits the whole download. If a proxy removes the content
     * length (HTTP/1.0), an incomplete file cannot be detected. In that case compare the number of
     * bytes with the `size` of the report.
     *
     * @param array<string, string> $query
     * @throws TopupError if the service refuses the call
     * @throws OutcomeUnknownError if no complete file arrived
     * @throws \InvalidArgumentException if the call returns no file
     */
    public function download(string $path, array $query = []): string
    {
        return $this->dataOf('GET', $path, null, $query, isFile: true);
    }

    /**
     * @param array<string, mixed>|null $body
     * @param array<string, string> $query
     */
    private function dataOf(string $method, string $path, ?array $body, array $query, bool $isFile): mixed
    {
        $refId = isset($body['ref_id']) && is_string($body['ref_id']) && $body['ref_id'] !== '' ? $body['ref_id'] : null;
        $method = strtoupper($method);
        $operation = "$method $path";
        $isRead = $method === 'GET' || in_array($path, self::READS, true);
        $headers = ["Authorization: Bearer $this->apiKey", $isFile ? 'Accept: */*' : 'Accept: application/json'];
        $content = null;
        if ($body !== null) {
            $headers[] = 'Content-Type: application/json';
            // Every attempt sends the same bytes.
            $content = json_encode((object) $body, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        }
        $sent = $this->sender->send(
            $method,
            $path . ($query === [] ? '' : '?' . http_build_query($query, '', '&', PHP_QUERY_RFC3986)),
            $headers,
            $content,
            isRepeatable: $isRead || $refId !== null,
            isAnswer: self::isAnswer(...),
            maybeFile: $method === 'GET',
        );
        if ($sent->answer === null) {
            throw new OutcomeUnknownError($operation, $refId, $sent->lost, $isRead);
        }
        if ($sent->status >= 400) {
            $refusal = new TopupError($sent->status, $sent->answer);
            // This attempt had no effect, but a lost earlier attempt may have had one.
            throw $sent->lost === null || $refId === null || $isRead ? $refusal : new OutcomeUnknownError($operation, $refId, $refusal);
        }
        $data = $sent->answer['data'];
        if (is_string($data) !== $isFile) {
            // A retry would get the same response.
            $wrong = $isFile ? 'no file: use call, or set a format' : 'a file: use download';
            throw new \InvalidArgumentException("$operation returns $wrong");
        }
        return $data;
    }

    /**
     * True for a response from the service: a success with data, or a refusal. After any other
     * response, the outcome is unknown.
     *
     * @param array<string, mixed> $answer
     */
    private static function isAnswer(int $httpStatus, array $answer): bool
    {
        return $httpStatus < 400
            ? $answer['status'] === 'success' && is_array($answer['data'] ?? null)
            : self::isServiceRefusal($answer);
    }

    /**
     * True if the service has refused the call. Such a response contains a code of the service and
     * a reason. Other errors come from a proxy, which may have forwarded the call.
     *
     * @internal
     * @param array<string, mixed> $answer
     */
    public static function isServiceRefusal(array $answer): bool
    {
        return $answer['status'] === 'error'
            && is_string($answer['code'] ?? null) && preg_match('/\A[0-9]{2}\z/', $answer['code']) === 1
            && is_string($answer['reason'] ?? null);
    }

    /** The available balance in rupiah. */
    public function balance(): int
    {
        return $this->call('POST', '/api/buyer/balance')['balance'];
    }

    /**
     * Buys a prepaid product, once per ref_id. Create the ref_id once per order and store it before
     * the first call.
     *
     * @return array<string, mixed> the transaction
     */
    public function buy(string $code, string $customerNumber, string $refId, ?int $maxPrice = null): array
    {
        return $this->order('/api/buyer/transaction', $code, $customerNumber, $refId, $maxPrice);
    }

    /**
     * Pays a bill, once per ref_id.
     *
     * @return array<string, mixed>
     */
    public function pay(string $code, string $customerNumber, string $refId, ?int $maxPrice = null): array
    {
        return $this->order('/api/buyer/payment', $code, $customerNumber, $refId, $maxPrice);
    }

    /**
     * Deposits rupiah, once per ref_id.
     *
     * @return array<string, mixed>
     */
    public function deposit(int $amount, string $refId): array
    {
        return $this->call('POST', '/api/buyer/deposit', ['amount' => $amount, 'ref_id' => requiredRefId($refId)]);
    }

    /** @return array<string, mixed> */
    private function order(string $path, string $code, string $customerNumber, string $refId, ?int $maxPrice): array
    {
        $body = ['code' => $code, 'customer_number' => $customerNumber, 'ref_id' => requiredRefId($refId)];
        return $this->call('POST', $path, $maxPrice === null ? $body : $body + ['max_price' => $maxPrice]);
    }

    /**
     * The current state of a transaction.
     *
     * @return array<string, mixed>
     */
    public function transaction(string $refId): array
    {
        return $this->call('GET', '/api/buyer/transactions/' . rawurlencode(requiredRefId($refId)));
    }

    /**
     * Polls until a transaction is final, in case the webhook does not arrive.
     *
     * @return array<string, mixed> the final transaction, or its current state when the time limit
     *     ends
     */
    public function waitForResult(string $refId, int $timeoutMs = 60_000, int $everyMs = 2_000): array
    {
        $endsAt = hrtime(true) / 1e6 + $timeoutMs;
        for (;;) {
            $found = $this->transaction($refId);
            if (in_array($found['status'], ['success', 'failed'], true) || hrtime(true) / 1e6 + $everyMs > $endsAt) {
                return $found;
            }
            usleep($everyMs * 1_000);
        }
    }

    /**
     * Every transaction, newest first, page by page. Purchases made during the iteration are not
     * included, and no transaction is repeated. With a `status` filter, some transactions may be
     * missed: if one leaves the status, later ones move to earlier pages.
     *
     * @param array<string, mixed> $filter
     * @return \Generator<int, array<string, mixed>>
     */
    public function transactions(array $filter = []): \Generator
    {
        // Do not add an end_date to freeze the pages. If the clock of this machine is behind, the
        // end_date would hide new transactions.
        $body = $filter + ['limit' => 100];
        $seen = [];
        for ($page = 1; ; $page++) {
            $found = $this->call('POST', '/api/buyer/transactions', $body + ['page' => $page]);
            foreach ($found['transactions'] as $transaction) {
                if (!isset($seen[$transaction['transaction_id']])) {
                    $seen[$transaction['transaction_id']] = true;
                    yield $transaction;
                }
            }
            if ($page >= $found['pagination']['total_pages']) {
                return;
            }
        }
    }

    /**
     * Every movement of the wallet, oldest first.
     *
     * @param array{start_date?: string, end_date?: string} $filter
     * @return \Generator<int, array<string, mixed>>
     */
    public function statement(array $filter = []): \Generator
    {
        do {
            $found = $this->call('GET', '/api/buyer/statement', query: $filter);
            foreach ($found['entries'] as $entry) {
                yield $entry;
            }
            $filter = ['cursor' => $found['next_cursor']];
        } while ($found['next_cursor'] !== null);
    }
}

/**
 * HMAC-SHA256 with the API key, in lower-case hex, over username and covered values, joined by `|`.
 *
 * @param list<string> $covers
 */
function resellerSign(string $username, #[\SensitiveParameter] string $apiKey, array $covers): string
{
    return hash_hmac('sha256', implode('|', [$username, ...$covers]), $apiKey);
}

/**
 * The reseller API: signed GET calls. `status` of a response is its result code. `05` means that
 * the purchase is still being processed.
 */
final class ResellerClient
{
    private readonly Sender $sender;

    public function __construct(
        string $baseUrl,
        private readonly string $username,
        #[\SensitiveParameter] private readonly string $apiKey,
        SendOptions $options = new SendOptions(),
    ) {
        requireSendable($apiKey);
        $this->sender = new Sender($baseUrl, $options);
    }

    /**
     * Buys, once per ref_id. Repeat the call to check the status.
     *
     * @return array<string, mixed>
     */
    public function request(string $code, string $customer, string $refId, ?int $maxPrice = null): array
    {
        $query = ['code' => $code, 'customer' => $customer, 'ref_id' => requiredRefId($refId)];
        $more = $maxPrice === null ? [] : ['max_price' => (string) $maxPrice];
        return $this->get('request', [$code, $customer, $refId], $query + $more);
    }

    /**
     * @param array{category?: string, operator?: string} $filter
     * @return array<string, mixed>
     */
    public function priceList(array $filter = []): array
    {
        return $this->get('price-list', ['pricelist'], $filter);
    }

    /** @return array<string, mixed> */
    public function balance(): array
    {
        return $this->get('balance', ['depo'], []);
    }

    /**
     * @param list<string> $covers
     * @param array<string, string> $query
     * @return array<string, mixed>
     */
    private function get(string $path, array $covers, array $query): array
    {
        $signed = ['username' => $this->username, 'sign' => resellerSign($this->username, $this->apiKey, $covers)];
        $text = http_build_query($signed + $query, '', '&', PHP_QUERY_RFC3986);
        $sent = $this->sender->send(
            'GET',
            "/api/reseller/$path?$text",
            ['Accept: application/json'],
            null,
            isRepeatable: true,
            // A response from the service has a result code in `status`, or is a refusal before the
            // call reached the reseller API.
            isAnswer: static fn (int $httpStatus, array $answer): bool => is_string($answer['status'])
                && (preg_match('/\A[0-9]{2}\z/', $answer['status']) === 1
                    || ($httpStatus >= 400 && Client::isServiceRefusal($answer))),
        );
        $answer = $sent->answer;
        // A failed transaction is not a refusal, because the transaction exists. After a refusal,
        // the call had no effect.
        $isRefusal = $answer !== null && isset($query['ref_id'])
            && !in_array($answer['status'], ['00', '05'], true)
            && ($answer['reason'] ?? null) !== 'transaction_failed';
        if ($answer === null || ($isRefusal && $sent->lost !== null)) {
            throw new OutcomeUnknownError($path, $query['ref_id'] ?? null, $sent->lost, isRead: !isset($query['ref_id']));
        }
        return $answer;
    }
}

final class WebhookEvent
{
    /**
     * @param string $id The same in every attempt. Store it to recognize repeated deliveries.
     * @param string $name transaction.success, callback.wallet …
     * @param array<string, mixed> $body
     */
    public function __construct(
        public readonly string $id,
        public readonly string $name,
        public readonly array $body,
    ) {
    }
}

final class Webhooks
{
    /**
     * Verifies a webhook or callback.
     *
     * @param array<string, string|list<string>> $headers Names may be in upper or lower case.
     *     Values may be lists, as in PSR-7.
     * @param string $body The raw body, before any JSON parser.
     * @param string $secret The secret of the endpoint (`whsec_…`). For callbacks, use the secret
     *     of the endpoint `default`.
     * @param int $toleranceS The maximum difference between the time of the signature and now.
     * @param int|null $nowS The current time in seconds since 1970. Tests set it.
     * @throws WebhookError if the webhook is forged, too old, or not from this service
     */
    public static function verify(
        array $headers,
        string $body,
        #[\SensitiveParameter] string $secret,
        int $toleranceS = 300,
        ?int $nowS = null,
    ): WebhookEvent {
        if (preg_match('#\Awhsec_[A-Za-z0-9+/]+=*\z#', $secret) !== 1) {
            throw new \InvalidArgumentException('secret must be the webhook secret: whsec_…');
        }
        $given = array_change_key_case($headers);
        $header = static fn (string $name): string => isset($given[$name])
            ? implode(', ', (array) $given[$name])
            : throw new WebhookError("The header $name is missing.");
        [$id, $timestamp] = [$header('webhook-id'), $header('webhook-timestamp')];
        $key = base64_decode(substr($secret, strlen('whsec_')));
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        $matches = false;
        // There are two signatures while a secret is rotated. Compare all of them, in constant
        // time.
        foreach (explode(' ', $header('webhook-signature')) as $each) {
            $matches = hash_equals($expected, $each) || $matches;
        }
        if (!$matches) {
            throw new WebhookError(
                'Wrong signature: the secret differs, or the body was changed or parsed before verification.',
            );
        }
        if (preg_match('/\A[0-9]{1,12}\z/', $timestamp) !== 1 || abs(($nowS ?? time()) - (int) $timestamp) > $toleranceS) {
            throw new WebhookError("The webhook was not signed within $toleranceS s of now. Check your clock.");
        }
        $parsed = json_decode($body, true);
        if (!is_array($parsed) || !str_starts_with(ltrim($body), '{')) {
            throw new WebhookError('The body is not a JSON object.');
        }
        // The header is not signed, so the name in the body takes precedence.
        $name = is_string($parsed['event'] ?? null) ? $parsed['event'] : $header('x-event');
        return new WebhookEvent($id, $name, $parsed);
    }

    /**
     * Verifies the HTTP request that this script handles.
     *
     * @throws WebhookError if the webhook is forged, too old, or not from this service
     */
    public static function fromRequest(#[\SensitiveParameter] string $secret): WebhookEvent
    {
        $headers = [];
        foreach ($_SERVER as $name => $value) {
            if (str_starts_with((string) $name, 'HTTP_')) {
                $headers[str_replace('_', '-', substr((string) $name, strlen('HTTP_')))] = (string) $value;
            }
        }
        return self::verify($headers, (string) file_get_contents('php://input'), $secret);
    }
}

/** @internal */
final class Sent
{
    /**
     * @param array<string, mixed>|null $answer Null if no conclusive response arrived.
     * @param \Throwable|null $lost Why an attempt got no conclusive response. That attempt may have
     *     taken effect, so a refusal is conclusive only if this is null.
     */
    public function __construct(
        public readonly int $status,
        public readonly ?array $answer,
        public readonly ?\Throwable $lost,
    ) {
    }
}

/** @internal Sends a request and retries it until there is a conclusive response. */
final class Sender
{
    private readonly string $baseUrl;

    public function __construct(string $baseUrl, private readonly SendOptions $options)
    {
        if (!extension_loaded('curl') || PHP_INT_SIZE < 8) {
            throw new \LogicException('This client needs the extension curl (php-curl) and a 64-bit PHP.');
        }
        $this->baseUrl = rtrim($baseUrl, '/');
    }

    /**
     * A refusal by the service with status 429 or 503 means that the request had no effect, so
     * every request is retried. If there is no response from the service, or the outcome is
     * unknown, only repeatable requests are retried.
     *
     * @param list<string> $headers
     * @param \Closure(int, array<string, mixed>): bool $isAnswer Returns true if a response comes
     *     from this API of the service.
     * @param bool $maybeFile True if a successful response may be a file. Its bytes then become the
     *     `data`.
     */
    public function send(
        string $method,
        string $path,
        array $headers,
        ?string $content,
        bool $isRepeatable,
        \Closure $isAnswer,
        bool $maybeFile = false,
    ): Sent {
        $lost = null;
        $sent = new Sent(0, null, new \LogicException('attemptsMax is 0'));
        for ($attempt = 1; $attempt <= $this->options->attemptsMax; $attempt++) {
            $retryAfterS = null;
            $found = $this->sendOnce($method, $path, $headers, $content, $isAnswer, $maybeFile, $retryAfterS);
            $lost = $found->lost ?? $lost;
            $sent = new Sent($found->status, $found->answer, $lost);
            $isRefusedForNow = $sent->answer !== null && in_array($sent->status, [429, 503], true);
            if (!$isRefusedForNow && ($sent->answer !== null || !$isRepeatable)) {
                break;
            }
            if ($attempt < $this->options->attemptsMax) {
                $waitMs = $retryAfterS === null ? 500 * 2 ** ($attempt - 1) : $retryAfterS * 1_000;
                usleep(min($waitMs, $this->options->waitMaxMs) * 1_000);
            }
        }
        return $sent;
    }

    /**
     * @param list<string> $headers
     * @param \Closure(int, array<string, mixed>): bool $isAnswer
     */
    private function sendOnce(
        string $method,
        string $path,
        array $headers,
        ?string $content,
        \Closure $isAnswer,
        bool $maybeFile,
        ?int &$retryAfterS,
    ): Sent {
        $isAttached = false;
        $curl = curl_init($this->baseUrl . $path);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $method,
            // An empty `Expect:` keeps curl from waiting for 100 Continue before a long body.
            CURLOPT_HTTPHEADER => [...$headers, 'Expect:'],
            CURLOPT_RETURNTRANSFER => true,
            // The limit covers the whole call. Redirects are not followed, because the key
            // would be forwarded.
            CURLOPT_TIMEOUT_MS => $this->options->timeoutMs,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTPS | CURLPROTO_HTTP,
            CURLOPT_HEADERFUNCTION => static function ($_curl, string $line) use (&$retryAfterS, &$isAttached): int {
                if (preg_match('/\Aretry-after:\s*([0-9]{1,6})\s*\z/i', $line, $found) === 1) {
                    $retryAfterS = (int) $found[1];
                }
                // The service sends files as attachments, and error pages of proxies are not
                // attachments.
                $isAttached = $isAttached || preg_match('/\Acontent-disposition:\s*attachment\b/i', $line) === 1;
                return strlen($line);
            },
        ]);
        if ($content !== null) {
            curl_setopt($curl, CURLOPT_POSTFIELDS, $content);
        }
        $text = curl_exec($curl);
        $status = (int) curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if (!is_string($text)) {
            return new Sent(0, null, new \RuntimeException(curl_error($curl)));
        }
        // 206 is a partial file.
        $isFile = $isAttached && $status < 300;
        $answer = $isFile ? ['status' => 'success', 'data' => $text] : json_decode($text, true);
        // A response of a proxy may have any HTTP status. After such a response, or after an
        // internal error of the service, the outcome is unknown.
        $isOwn = is_array($answer) && array_key_exists('status', $answer)
            && !($status >= 300 && $status < 400) && ($status < 500 || $status === 503)
            && ($isFile ? $maybeFile && $status === 200 : $isAnswer($status, $answer))
            // The service lost its database or queue, possibly after the write.
            && ($answer['reason'] ?? null) !== 'service_unavailable';
        return $isOwn
            ? new Sent($status, $answer, null)
            : new Sent($status, null, new \RuntimeException("HTTP $status: " . substr($text, 0, 200)));
    }
}

/** @internal Throws if the API key has characters that headers and URLs do not allow. */
function requireSendable(#[\SensitiveParameter] string $apiKey): void
{
    if (preg_match('/\A[\x21-\x7e]*\z/', $apiKey) !== 1) {
        throw new \InvalidArgumentException('apiKey has a space, a line break or an invalid character: copy the key again');
    }
}

/** @internal */
function requiredRefId(string $refId): string
{
    return match ($refId) {
        '' => throw new \InvalidArgumentException('refId is missing: create one for the order and store it before the call'),
        // The service also refuses these words.
        '.', '..', 'lookup' => throw new \InvalidArgumentException(
            "refId cannot be \"$refId\", which has another meaning in a URL",
        ),
        default => $refId,
    };
}
