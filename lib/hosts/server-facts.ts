import type { Lsn } from '../consistency/lsn.ts';
import type { HostRole } from '../events.ts';
import type { Connection } from './host.ts';

/** What a server reports of itself when a connection opens, and whenever it changes. */
export interface ServerFacts {
  role: HostRole | undefined;
  /** False where a backslash in a plain string literal escapes, as before PostgreSQL 9.1; undefined until told. */
  hasStandardStrings: boolean | undefined;
  /** Which server it is, to be told from others behind the same name; undefined where it does not say. */
  server: string | undefined;
  /**
   * Whether a pooler is in between, as process ids are not the server's; undefined where they don't
   * tell.
   */
  isPooled: boolean | undefined;
  /** What it had replayed as the connection opened, if it is a replica. */
  replayed?: Lsn | undefined;
  /** The connection has ended, whoever ended it. */
  isEnded: boolean;
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/** The part of a `pg` client that hears the server's parameters. */
interface Listening {
  once?(event: 'end' | 'error', listener: () => void): unknown;
  readonly connection?: {
    on?(event: 'parameterStatus', listener: (message: ParameterStatus) => void): unknown;
  };
}

const facts = new WeakMap<Connection, ServerFacts>();

/** Listens, from before it connects, to what the server of a `pg` client says of itself. */
export function listenToServer(
  client: Connection,
  onChange: (facts: ServerFacts) => void,
  onEnded: () => void = () => undefined,
): void {
  const heard: ServerFacts = {
    role: undefined,
    hasStandardStrings: undefined,
    server: undefined,
    isPooled: undefined,
    isEnded: false,
  };
  facts.set(client, heard);

  const onEnd = (): void => {
    heard.isEnded = true;
    onEnded();
  };
  // An error outside of any query is a lost connection, whose end may be told later.
  (client as Listening).once?.('end', onEnd);
  (client as Listening).once?.('error', onEnd);
  // Another driver's client (a fake in a test, pg-native) may have no such emitter.
  (client as Listening).connection?.on?.('parameterStatus', (message) => {
    switch (message.parameterName) {
      case 'in_hot_standby':
        heard.role = message.parameterValue === 'on' ? 'replica' : 'primary';
        break;
      case 'standard_conforming_strings':
        heard.hasStandardStrings = message.parameterValue !== 'off';
        break;
      default:
        return;
    }
    onChange(heard);
  });
}

/** What the server of a connection has said of itself. */
export function serverFacts(connection: Connection): ServerFacts | undefined {
  return facts.get(connection);
}
