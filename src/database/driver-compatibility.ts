import { MongoCompatibilityError, type MongoClient, type TopologyDescriptionChangedEvent } from 'mongodb';
import { ServerTooOldError, versionProblem } from '../shared/server-versions.js';

/**
 * The newest MongoDB of each wire version, from 0 on. The driver refuses servers below 4.4 and
 * reports only their wire version.
 */
const versions = ['2.4', '2.4', '2.6', '3.0', '3.2', '3.4', '3.6', '4.0', '4.2'];

let refusal: string | null = null;

/** Returns why the driver refused the server at the last attempt to connect; null if it did not. */
export function getDriverRefusal(): string | null {
  return refusal;
}

/**
 * Waits until this client has connected. The driver would keep trying until its time-out. So the
 * client is closed once every server has answered, none is usable and one is too old.
 * @param client Null if its address is invalid; `connecting` rejects then.
 * @throws ServerTooOldError instead of the driver's error.
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

/** The driver reports the wire version of a server that is too old only in its message. */
function findVersionProblem(error: Error | null): string | null {
  const [, wireVersion] =
    (error instanceof MongoCompatibilityError && /maximum wire version (\d+)/.exec(error.message)) || [];
  const version = versions[Number(wireVersion)];
  return version === undefined ? null : versionProblem('MongoDB', version);
}
