import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { eventually } from './eventually.js';

export interface StoppedServer {
  port: number;
  /** Lets the process continue. The kernel repeats each waiting connection attempt about a second later. */
  resume(): void;
  /**
   * Connections that the server accepted, without those that fill its queue, and requests on them.
   * The kernel may lose a connection of the queue, so these are not counted together.
   */
  seen(): { connections: number; requests: number };
  close(): Promise<void>;
}

/**
 * An HTTP server on 127.0.0.1 that is stopped (SIGSTOP) and whose queue of new connections is full.
 * The kernel drops further attempts to connect, as a firewall or a lossy network does.
 */
export async function startStoppedServer(): Promise<StoppedServer> {
  const program = `
    const server = require('node:net').createServer((socket) => {
      console.log('connection ' + socket.remotePort);
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
  const printed: string[] = [];
  lines.on('line', (line) => printed.push(line));
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
    seen: () => {
      const filling = fillers.map(({ localPort }) => `connection ${localPort ?? ''}`);
      const requests = printed.filter((line) => line === 'request').length;
      const fromFillers = printed.filter((line) => filling.includes(line)).length;
      return { connections: printed.length - requests - fromFillers, requests };
    },
    close: async () => {
      fillers.forEach((socket) => socket.destroy());
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
