import type { Server, ServerResponse } from 'node:http';

const lookEveryMs = 100;

/**
 * Lets a server be closed although clients keep their connections: from then on each answer ends its own, with
 * `Connection: close`, and those that are idle end at once.
 */
export function closable(server: Server): { close(): Promise<void> } {
  const open = new Set<ServerResponse>();
  let isClosing = false;
  const endsConnection = (response: ServerResponse): void => {
    if (!response.headersSent) {
      response.setHeader('Connection', 'close');
    }
  };
  server.prependListener('request', (_request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    if (isClosing) {
      endsConnection(response);
    }
  });
  return {
    async close() {
      isClosing = true;
      open.forEach(endsConnection);
      // What had its headers before keeps its connection, which is idle when it has been answered.
      const looking = setInterval(() => {
        server.closeIdleConnections();
      }, lookEveryMs);
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeIdleConnections();
      });
      clearInterval(looking);
    },
  };
}
