import { MongoCompatibilityError, type MongoClient, type TopologyDescriptionChangedEvent } from 'mongodb';
import { ServerTooOldError, describeVersionProblem } from '../shared/server-versions.js';

/**
 * The newest MongoDB version of each wire version, starting with wire version 0. The driver refuses
 * servers below 4.4 and reports only their wire version.
 */
const versions = ['2.4', '2.4', '2.6', '3.0', '3.2', '3.4', '3.6', '4.0', '4.2'];

let refusal: string | null = null;

/**
 * Returns why the driver refused the server at the last connection attempt. Null if it did not
 * refuse.
 */
export function getDriverRefusal(): string | null {
  return refusal;
}

/**
 * Waits until this client has connected. The driver alone would keep trying until its timeout. So
 * this function closes the client once every server has responded, none is usable and one is too
 * old.
 *
 * @param client Null if the address is invalid. `connecting` then rejects.
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

/** If a server is too old, the driver reports its wire version only in the error message. */
function findVersionProblem(error: Error | null): string | null {
  const [, wireVersion] =
    (error instanceof MongoCompatibilityError && /maximum wire version (\d+)/.exec(error.message)) || [];
  const version = versions[Number(wireVersion)];
  return version === undefined ? null : describeVersionProblem('MongoDB', version);
}
