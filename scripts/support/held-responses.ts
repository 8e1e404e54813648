import type { ServerResponse } from 'node:http';

/** Requests that never get an answer. */
export interface HeldResponses {
  /** Keeps the connection open until the caller gives up, for at most two minutes. */
  hold(response: ServerResponse): void;
  /** Closes all of them, so that the program can stop. */
  endAll(): void;
}

const holdMaxMs = 120_000;

export function createHeldResponses(): HeldResponses {
  const held = new Set<ServerResponse>();
  return {
    hold(response) {
      const end = setTimeout(() => response.destroy(), holdMaxMs);
      held.add(response);
      response.on('close', () => {
        clearTimeout(end);
        held.delete(response);
      });
    },
    endAll: () => held.forEach((response) => response.destroy()),
  };
}
