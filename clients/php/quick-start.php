<?php

// php quick-start.php <address> <buyer key> <ref_id>: deposits, buys, and waits for the verified webhook.

declare(strict_types=1);

use Topup\Client;
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

[, $baseUrl, $apiKey, $refId] = $argv;
$client = new Client($baseUrl, $apiKey);
['webhook_secret' => $secret, 'webhook_url' => $before] = $client->call('GET', '/api/buyer/api/config');
if (extension_loaded('pcntl')) { // Ctrl-C comes through `finally` too.
    pcntl_async_signals(true);
    pcntl_signal(SIGINT, fn () => throw new RuntimeException('Interrupted.'));
}

$socket = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($socket, false); // Free a moment ago.
fclose($socket);
$events = tempnam(sys_get_temp_dir(), 'events');
$environment = ['WEBHOOK_SECRET' => $secret, 'EVENTS' => $events] + getenv();
$receiver = proc_open([PHP_BINARY, '-S', $address, __FILE__], [2 => ['file', '/dev/null', 'w']], $pipes, null, $environment);
try {
    $client->call('POST', '/api/buyer/api/config', ['webhook_url' => "http://$address/hooks/topup"]);
    $client->deposit(100_000, "deposit-$refId");
    $client->buy('S10', '081234561230', $refId);

    $result = null;
    for ($endsAt = time() + 60; $result === null && time() < $endsAt; usleep(100_000)) {
        foreach (file($events) as $line) {
            [$name, $body] = json_decode($line, true);
            if ($name === 'transaction.success' && $body['data']['ref_id'] === $refId) {
                $result = ['status' => $body['data']['status'], 'sn' => $body['data']['sn']];
            }
        }
    }
} finally {
    proc_terminate($receiver);
    unlink($events);
    $client->call('POST', '/api/buyer/api/config', ['webhook_url' => $before]);
    fwrite(STDERR, 'webhook_url is ' . ($before ?? 'null') . " again.\n");
}
echo json_encode($result), "\n";
