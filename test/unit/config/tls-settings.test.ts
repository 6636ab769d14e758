import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { TlsSettings } from '../../../lib/config/tls-settings.ts';

const written = { ca: 'root', key: 'planted-key', passphrase: 'planted-word', pfx: 'planted-pfx' };

describe('TlsSettings', () => {
  it('shows no secret', () => {
    const settings = TlsSettings.of(written);

    expect(inspect(settings) + JSON.stringify({ settings })).not.toContain('planted');
    expect(inspect(settings)).toContain('root');
  });

  it('gives pg all that was written', () => {
    const ssl = TlsSettings.of(written);

    const client = new Client({ ssl: ssl as object });

    // As pg does when it begins to talk TLS.
    const read: object = Object(client.ssl);
    expect({ ...read, key: Reflect.get(read, 'key') }).toEqual(written);
  });

  it('leaves what was written as it was', () => {
    expect(Object.keys(TlsSettings.of(written))).not.toContain('key');
    expect(Object.keys(written)).toContain('key');
  });

  it.each(['passphrase', 'pfx'])('refuses to be cloned with a %s in sight', (secret) => {
    const settings = TlsSettings.of({ [secret]: 'planted' });

    expect(() => structuredClone(settings)).toThrow('could not be cloned');
    expect(inspect(settings, { showProxy: true }) + JSON.stringify(settings)).not.toContain(
      'planted',
    );
    expect(settings).toBeInstanceOf(TlsSettings);
  });

  it('can be cloned without them', () => {
    expect(structuredClone(TlsSettings.of({ ca: 'root', key: 'planted' }))).toEqual({
      ca: 'root',
    });
  });

  it('has no key where none is written', () => {
    expect('key' in TlsSettings.of({ ca: 'root' })).toBe(false);
  });
});
