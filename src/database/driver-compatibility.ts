/** A MongoDB that the driver itself refuses, below 4.4: it tells its wire version and nothing else. */
import { MongoCompatibilityError, type MongoClient, type TopologyDescriptionChangedEvent } from 'mongodb';
import { ServerTooOldError, versionProblem } from '../shared/server-versions.js';

/** The newest MongoDB of each wire version, from 0 on. */
const versions = ['2.4', '2.4', '2.6', '3.0', '3.2', '3.4', '3.6', '4.0', '4.2'];

let refusal: string | null = null;

/** Why the driver refused the server at the last attempt to connect; null: it did not. */
export function getDriverRefusal(): string | null {
  return refusal;
}

/**
 * Waits until this client has connected. The driver would go on looking for its whole time-out, so the client is closed
 * once every server was asked, none can be used and one is too old.
 * @param client Null where its address is wrong: the connecting says so.
 * @throws ServerTooOldError in place of what the connecting ends in then.
 */
export async function awaitSupportedConnection(
  client: MongoClient | null,
  connecting: Promise<unknown>,
): Promise<void> {
  refusal = null;
  const judge = ({ newDescription }: TopologyDescriptionChangedEvent) => {
    const errors = [...newDescription.servers.values()].map(({ error }) => error);
    if (errors.every((each) => each !== null)) {
      refusal ??= errors.map(findVersionProblem).find((each) => each !== null) ?? null;
    }
    if (refusal !== null) {
      void client?.close();
    }
  };
  client?.on('topologyDescriptionChanged', judge);
  try {
    await connecting;
  } catch (error) {
    const why = getDriverRefusal();
    throw why === null ? error : new ServerTooOldError(why);
  } finally {
    client?.off('topologyDescriptionChanged', judge);
  }
}

/** The driver puts the wire version only into its message. A server that is too new gives no such message. */
function findVersionProblem(error: Error | null): string | null {
  const [, wireVersion] =
    (error instanceof MongoCompatibilityError && /maximum wire version (\d+)/.exec(error.message)) || [];
  const version = versions[Number(wireVersion)];
  return version === undefined ? null : versionProblem('MongoDB', version);
}
