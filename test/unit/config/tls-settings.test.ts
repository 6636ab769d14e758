import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { TlsSettings } from '../../../lib/config/tls-settings.ts';

const written = { ca: 'root', key: 'planted-key', passphrase: 'planted-word', pfx: 'planted-pfx' };

describe('TlsSettings', () => {
  it('shows no secret', () => {
    const settings = new TlsSettings(written);

    expect(inspect(settings) + JSON.stringify({ settings })).not.toContain('planted');
    expect(inspect(settings)).toContain('root');
  });

  it('gives pg all that was written', () => {
    const ssl = new TlsSettings(written);

    const client = new Client({ ssl: ssl as object });

    // As pg does when it begins to talk TLS.
    const read: object = Object(client.ssl);
    expect({ ...read, key: Reflect.get(read, 'key') }).toEqual(written);
  });

  it('leaves what was written as it was', () => {
    expect(Object.keys(new TlsSettings(written))).not.toContain('key');
    expect(Object.keys(written)).toContain('key');
  });

  it('has no key where none is written', () => {
    expect('key' in new TlsSettings({ ca: 'root' })).toBe(false);
  });
});
