import { describe, expect, it } from '@jest/globals';
import { serverIdentity } from '../../../lib/hosts/server-identity.ts';

const answers = { serverAddress: '10.0.0.1', serverPort: '5432', serverStart: '1700000000.5' };

describe('serverIdentity', () => {
  it('names address, port and start', () => {
    expect(serverIdentity(answers)).toBe('10.0.0.1:5432 1700000000.5');
  });

  it('knows a server behind a local socket by the rest', () => {
    expect(serverIdentity({ ...answers, serverAddress: undefined })).toBe(
      'local:5432 1700000000.5',
    );
  });

  it('is unknown where the start is', () => {
    expect(serverIdentity({ ...answers, serverStart: undefined })).toBeUndefined();
  });
});
