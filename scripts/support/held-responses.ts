import type { ServerResponse } from 'node:http';

/** Requests that never get a response. */
export interface HeldResponses {
  /** Keeps the connection open until the caller gives up, for at most two minutes. */
  hold(response: ServerResponse): void;
  /** Closes all held connections, so that the program can stop. */
  endAll(): void;
}

const holdMaxMs = 120_000;

export function createHeldResponses(): HeldResponses {
  const responses = new Set<ServerResponse>();
  return {
    hold(response) {
      const end = setTimeout(() => response.destroy(), holdMaxMs);
      responses.add(response);
      response.on('close', () => {
        clearTimeout(end);
        responses.delete(response);
      });
    },
    endAll: () => responses.forEach((response) => response.destroy()),
  };
}
