import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { eventually } from './eventually.js';

export interface StoppedServer {
  port: number;
  /** Lets the process continue. The kernel repeats each waiting connection attempt about a second later. */
  resume(): void;
  /** Connections that arrived, and requests on them. Includes `fillers`, which send nothing. */
  seen: { connections: number; requests: number };
  fillers: number;
  close(): Promise<void>;
}

/**
 * An HTTP server on 127.0.0.1 that is stopped (SIGSTOP) and whose queue of new connections is full.
 * The kernel drops further attempts to connect, as a firewall or a lossy network does.
 */
export async function startStoppedServer(): Promise<StoppedServer> {
  const program = `
    const server = require('node:net').createServer((socket) => {
      console.log('connection');
      socket.on('error', () => {});
      socket.on('data', () => {
        console.log('request');
        socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}');
      });
    });
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const [port] = (await once(lines, 'line')) as [string];
  const seen = { connections: 0, requests: 0 };
  lines.on('line', (line) => (seen[line === 'request' ? 'requests' : 'connections'] += 1));
  child.kill('SIGSTOP');
  const fillers = Array.from({ length: 4 }, () => net.connect(Number(port), '127.0.0.1'));
  fillers.forEach((socket) => socket.on('error', () => undefined));
  await eventually(
    'the queue is full',
    () => fillers.filter(({ readyState }) => readyState === 'open').length >= 2,
  );
  return {
    port: Number(port),
    resume: () => void child.kill('SIGCONT'),
    seen,
    fillers: fillers.length,
    close: async () => {
      fillers.forEach((socket) => socket.destroy());
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
