<?php

// Runs each JSON command on stdin, {"do": …, "with": …, "url": …}, with clients/php and prints
// its result.

declare(strict_types=1);

use Topup\Client;
use Topup\OutcomeUnknownError;
use Topup\ResellerClient;
use Topup\SendOptions;
use Topup\TopupError;
use Topup\WebhookError;
use Topup\Webhooks;

require __DIR__ . '/../../../clients/php/Topup.php';

function play(array $command): mixed
{
    $options = new SendOptions(timeoutMs: 5_000, attemptsMax: 4, waitMaxMs: 50);
    $client = new Client($command['url'] ?? '', $command['key'] ?? '', $options);
    $reseller = new ResellerClient($command['url'] ?? '', $command['username'] ?? '', $command['key'] ?? '', $options);
    $with = $command['with'] ?? [];
    return match ($command['do']) {
        'buy' => $client->buy($with['code'], $with['customer_number'], $with['ref_id'] ?? '', $with['max_price'] ?? null),
        'deposit' => $client->deposit($with['amount'], $with['ref_id']),
        'balance' => $client->balance(),
        'createEndpoint' => $client->call('POST', '/api/buyer/webhooks', $with),
        'listEndpoints' => array_column($client->call('get', '/api/buyer/webhooks'), 'id'),
        'waitForResult' => $client->waitForResult($with['ref_id']),
        'transactions' => array_column(iterator_to_array($client->transactions($with), false), 'ref_id'),
        'statement' => array_column(iterator_to_array($client->statement($with), false), 'balance'),
        'download' => base64_encode($client->download("/api/buyer/reports/{$with['id']}/download")),
        'callReport' => $client->call('GET', "/api/buyer/reports/{$with['id']}/download"),
        'callStatement' => $client->call('GET', '/api/buyer/statement', query: $with),
        'downloadStatement' => base64_encode($client->download('/api/buyer/statement', $with)),
        'resellerRequest' => $reseller->request($with['code'], $with['customer'], $with['ref_id']),
        'resellerBalance' => $reseller->balance(),
        'resellerPriceList' => $reseller->priceList($with),
        'verify' => Webhooks::verify($with['headers'], $with['body'], $with['secret'], nowS: $with['now']),
    };
}

while (($line = fgets(STDIN)) !== false) {
    $command = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
    try {
        $result = ['ok' => play($command)];
    } catch (TopupError $error) {
        $result = ['error' => 'refused', 'httpStatus' => $error->httpStatus, 'code' => $error->answerCode, 'reason' => $error->reason];
    } catch (OutcomeUnknownError $error) {
        $result = ['error' => 'unknown', 'refId' => $error->refId]
            + (isset($command['tellsMessage']) ? ['message' => $error->getMessage()] : []);
    } catch (WebhookError $error) {
        $result = ['error' => 'forged', 'message' => $error->getMessage()];
    } catch (\TypeError | \InvalidArgumentException $error) {
        $result = ['error' => 'usage', 'message' => $error->getMessage()];
    }
    echo json_encode($result), "\n";
}
