/**
 * `npm run bench -- webhooks`: deliveries per second and per core to a local receiver, beside the bare limit (the same
 * HTTP client in a loop, without queue or database), in one run: A-B-B-A, medians over the rounds, CPU of this
 * process alone (the receiver and the databases are processes of their own).
 */
import { fork, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { prepareRounds, type Measured } from './webhook-rounds.js';

const events = Number(process.env['EVENTS'] ?? 2_000);
const receivers = 50;
const rounds = Number(process.env['ROUNDS'] ?? 5);

async function main(): Promise<void> {
  const { receiver, url } = await startReceiver();
  const bench = await prepareRounds(url, { events, receivers });
  const bare: Measured[] = [];
  const whole: Measured[] = [];
  try {
    await bench.bare();
    await bench.whole();
    for (let round = 0; round < rounds; round++) {
      const order =
        round % 2 === 0
          ? (['bare', 'whole', 'whole', 'bare'] as const)
          : (['whole', 'bare', 'bare', 'whole'] as const);
      for (const kind of order) {
        (kind === 'bare' ? bare : whole).push(await bench[kind]());
      }
    }
  } finally {
    await bench.close();
    receiver.kill();
  }
  report(bare, whole);
}

function report(bare: Measured[], whole: Measured[]): void {
  const line = (name: string, all: Measured[]) => {
    const cpuUs = median(all.map((each) => each.cpuUs));
    console.log(
      `${name.padEnd(28)} ${median(all.map((each) => each.perSecond))
        .toFixed(0)
        .padStart(7)} /s   ` +
        `${cpuUs.toFixed(0).padStart(6)} CPU µs each   ${(1e6 / cpuUs).toFixed(0).padStart(6)} per core second`,
    );
    return 1e6 / cpuUs;
  };
  console.log(`${events} events to ${receivers} receivers, ${rounds} rounds A-B-B-A, medians`);
  const limit = line('bare undici loop', bare);
  const reached = line('queue, database, delivery', whole);
  console.log(
    `deliveries reach ${((100 * reached) / limit).toFixed(0)} % of the bare loop per core; goal 500 per core second, stretch 1,000`,
  );
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

async function startReceiver(): Promise<{ receiver: ChildProcess; url: string }> {
  const receiver = fork(fileURLToPath(import.meta.url), ['receive'], { stdio: 'inherit' });
  const port = await new Promise<number>((resolve) => {
    receiver.once('message', (message: { port: number }) => resolve(message.port));
  });
  return { receiver, url: `http://127.0.0.1:${port}` };
}

function receive(): void {
  const answer = '{"status":"received"}';
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
        .end(answer);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.on('disconnect', () => process.exit(0));
}

if (process.argv[2] === 'receive') {
  receive();
} else {
  await main();
}
