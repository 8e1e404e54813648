import type { ServerResponse } from 'node:http';

/** Requests that wait for an answer that never comes. */
export interface HeldResponses {
  /** Keeps the connection open until the caller gives up, or cuts it after two minutes. */
  hold(response: ServerResponse): void;
  /** Cuts all of them, so that the program can stop. */
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
