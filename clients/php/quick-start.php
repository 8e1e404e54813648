<?php

// php quick-start.php <address> <buyer key> <ref_id>: deposits, buys, and waits for the verified webhook.

declare(strict_types=1);

use Topup\Client;
use Topup\OutcomeUnknownError;
use Topup\TopupError;
use Topup\WebhookError;
use Topup\Webhooks;

require __DIR__ . '/Topup.php';

// This file is the receiver too, under PHP's own server, which the lines below start.
if (PHP_SAPI === 'cli-server') {
    try {
        $event = Webhooks::fromRequest((string) getenv('WEBHOOK_SECRET'));
        file_put_contents((string) getenv('EVENTS'), json_encode([$event->name, $event->body]) . "\n", FILE_APPEND | LOCK_EX);
        echo '{"status":"received"}';
    } catch (WebhookError) {
        http_response_code(401);
        echo '{"status":"refused"}';
    }
    return;
}

if ($argc !== 4) {
    fwrite(STDERR, "php quick-start.php <address> <buyer key> <ref_id>\n");
    exit(1);
}
[, $baseUrl, $apiKey, $refId] = $argv;
try {
    $client = new Client($baseUrl, $apiKey);
    $client->call('GET', '/api/buyer/webhooks');
} catch (TopupError | OutcomeUnknownError | InvalidArgumentException $error) {
    $todo = $error instanceof TopupError ? "Give a buyer's key (bk_test_…) of this service: " : '';
    fwrite(STDERR, "$todo{$error->getMessage()}\n");
    exit(1);
}

$onSignals = static function (?Closure $handler): void {
    if (extension_loaded('pcntl')) { // Without it `finally` is passed over.
        pcntl_async_signals(true);
        pcntl_signal(SIGINT, $handler ?? SIG_IGN);
        pcntl_signal(SIGTERM, $handler ?? SIG_IGN);
    }
};
$stop = static function () use ($onSignals): never {
    $onSignals(null); // A second one would come in the middle of removing the endpoint.
    throw new RuntimeException('Interrupted.');
};
$socket = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($socket, false); // Free a moment ago.
fclose($socket);
$url = "http://$address/hooks/topup";
$removeEndpoint = static function (int $tries = 5) use ($client, $url): void {
    for ($left = $tries - 1; ; $left--) {
        try {
            foreach ($client->call('GET', '/api/buyer/webhooks') as $each) {
                if ($each['url'] === $url) { // By its URL, because the answer that has its id may be lost.
                    $client->call('DELETE', "/api/buyer/webhooks/{$each['id']}");
                }
            }
            return;
        } catch (TopupError | OutcomeUnknownError $error) {
            // The client repeats nothing that changes something without a ref_id, but this may be done twice.
            if ($error instanceof TopupError || $left === 0) {
                fwrite(STDERR, "The webhook endpoint $url must be removed.\n");
                throw $error;
            }
            sleep(1);
        }
    }
};

$events = tempnam(sys_get_temp_dir(), 'events');
$receiver = $result = null;
$onSignals($stop);
try {
    // An endpoint of its own: a webhook_url that the account has stays what it is.
    $endpoint = $client->call('POST', '/api/buyer/webhooks', ['url' => $url, 'events' => ['transaction.*']]);
    $environment = ['WEBHOOK_SECRET' => $endpoint['secret'], 'EVENTS' => $events] + getenv();
    $receiver = proc_open([PHP_BINARY, '-S', $address, __FILE__], [2 => ['file', '/dev/null', 'w']], $pipes, null, $environment);
    $client->deposit(100_000, "deposit-$refId");
    $client->buy('S10', '081234561230', $refId);

    for ($endsAt = time() + 60; $result === null && time() < $endsAt; usleep(100_000)) {
        foreach (file($events) as $line) {
            [$name, $body] = json_decode($line, true);
            if ($name === 'transaction.success' && $body['data']['ref_id'] === $refId) {
                $result = ['status' => $body['data']['status'], 'sn' => $body['data']['sn']];
            }
        }
    }
    if ($result === null) {
        throw new RuntimeException("No webhook within 60 s. Is $refId a ref_id that was used before?");
    }
} catch (RuntimeException $error) {
    fwrite(STDERR, "{$error->getMessage()}\n");
} finally {
    $onSignals(null);
    if ($receiver !== null) {
        proc_terminate($receiver);
    }
    unlink($events);
    $removeEndpoint();
}
if ($result === null) {
    exit(1);
}
echo json_encode($result), "\n";
