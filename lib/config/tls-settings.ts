import { inspect } from 'util';

const secrets = ['key', 'passphrase', 'pfx'];

/**
 * The `ssl` of a connection, whose secrets inspection and JSON leave out.
 *
 * A class, because Knex copies object literals, and would lose the hidden key.
 */
export class TlsSettings {
  static {
    // Not a method: a computed name has no place in a declaration that is written file by file.
    Object.defineProperty(TlsSettings.prototype, inspect.custom, {
      value(this: TlsSettings) {
        return this.toJSON();
      },
    });
  }

  /** Makes settings that `structuredClone` refuses where the copy, a plain object, would show a secret. */
  static of(options: Readonly<Record<string, unknown>>): TlsSettings {
    const settings = new TlsSettings(options);
    const isClonable = !('passphrase' in options || 'pfx' in options);
    // No proxy can be cloned.
    return isClonable ? settings : new Proxy(settings, {});
  }

  constructor(options: Readonly<Record<string, unknown>>) {
    Object.assign(this, options);
    // pg hides the key by changing the object that it was given, and reads it nevertheless. The
    // other secrets have to stay enumerable: pg copies what it hands to Node.
    if ('key' in options) {
      Object.defineProperty(this, 'key', { value: options['key'], enumerable: false });
    }
    Object.freeze(this);
  }

  toJSON(): Record<string, unknown> {
    return Object.fromEntries(Object.entries(this).filter(([name]) => !secrets.includes(name)));
  }
}
