import { createSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';

/**
 * By name: a function that returns the addresses for the n-th query of a family (counted from 1).
 * Null means that the server does not respond.
 */
export type Zone = Record<string, (asked: number, family: 4 | 6) => string[] | null>;

export interface TestNameServer {
  resolver: dns.Resolver;
  close(): Promise<void>;
}

const aaaaType = 28;

/** Starts a real name server on UDP that returns hostile addresses. */
export async function startNameServer(
  zone: Zone,
  { timeout = 500, tries = 1 }: { timeout?: number; tries?: number } = {},
): Promise<TestNameServer> {
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const { name, type, end } = readQuestion(question);
    const key = `${name}/${type}`;
    asked.set(key, (asked.get(key) ?? 0) + 1);
    const family = type === aaaaType ? 6 : 4;
    const addresses = name in zone ? (zone[name]?.(asked.get(key) ?? 1, family) ?? null) : [];
    if (addresses !== null) {
      const wanted = addresses.filter((each) => each.includes(':') === (type === aaaaType));
      socket.send(reply(question.subarray(0, end), wanted), from.port, from.address);
    }
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const resolver = new dns.Resolver({ timeout, tries });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    resolver,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function reply(question: Buffer, addresses: string[]): Buffer {
  const header = Buffer.from(question);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt16BE(0, 10);
  return Buffer.concat([header, ...addresses.map(answerRecord)]);
}

function answerRecord(address: string): Buffer {
  const data = address.includes(':') ? ipv6(address) : Buffer.from(address.split('.').map(Number));
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(address.includes(':') ? aaaaType : 1, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(0, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}

/** Encodes an IPv6 address. Its hexadecimal groups must be complete or shortened with `::`. */
function ipv6(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((each) => parseInt(each, 16)));
  const front = groups(head);
  const back = groups(tail ?? '');
  const all = [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
  const bytes = Buffer.alloc(16);
  all.forEach((group, index) => bytes.writeUInt16BE(group, index * 2));
  return bytes;
}
