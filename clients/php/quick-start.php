<?php

// php quick-start.php <address> <buyer key> <ref_id>: deposits, buys, and waits for the verified webhook.

declare(strict_types=1);

use Topup\Client;
use Topup\OutcomeUnknownError;
use Topup\TopupError;
use Topup\WebhookError;
use Topup\Webhooks;

require __DIR__ . '/Topup.php';

// This file is also the receiver, run by PHP's built-in server, which the code below starts.
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
    if (extension_loaded('pcntl')) { // Without pcntl a signal skips `finally`.
        pcntl_async_signals(true);
        pcntl_signal(SIGINT, $handler ?? SIG_IGN);
        pcntl_signal(SIGTERM, $handler ?? SIG_IGN);
    }
};
$stop = static function () use ($onSignals): never {
    $onSignals(null); // A second signal would interrupt the removal of the endpoint.
    throw new RuntimeException('Interrupted.');
};
$socket = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($socket, false); // A free port.
fclose($socket);
$url = "http://$address/hooks/topup";
$removeEndpoint = static function (int $tries = 5) use ($client, $url): void {
    for ($left = $tries - 1; ; $left--) {
        try {
            foreach ($client->call('GET', '/api/buyer/webhooks') as $each) {
                if ($each['url'] === $url) { // The response with its id may be lost, so find it by URL.
                    $client->call('DELETE', "/api/buyer/webhooks/{$each['id']}");
                }
            }
            return;
        } catch (TopupError | OutcomeUnknownError $error) {
            // The client does not repeat writes without a ref_id, but this one is safe to repeat.
            if ($error instanceof TopupError || $left === 0) {
                fwrite(STDERR, "Could not remove the webhook endpoint $url. Remove it yourself.\n");
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
    // Use a separate endpoint, so that the webhook_url of the account does not change.
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
        throw new RuntimeException("No webhook within 60 s. Was ref_id $refId used before?");
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
