// EADDRNOTAVAIL, EMFILE and the like are missing: they are of this machine's making.
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENOTFOUND',
  // The file of a socket, as long as no server listens.
  'ENOENT',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SOCKET_CLOSED',
  'ERR_SOCKET_CLOSED_BEFORE_CONNECTION',
  'ERR_TLS_HANDSHAKE_TIMEOUT',
]);

// OpenSSL's reasons and, from https://nodejs.org/api/tls.html, what may be wrong with a certificate.
const TLS_CODE =
  /^(ERR_(SSL|TLS|OSSL)_|EPROTO$|UNABLE_TO_|CRL_|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$|HOSTNAME_MISMATCH$)|CERT/;

/** Whether a name that Node gives to an error means that the other side cannot be reached, or left. */
export function isNetworkCode(code: string): boolean {
  return NETWORK_CODES.has(code) || code.startsWith('EAI_');
}

/** Whether a name that Node gives to an error is about TLS: certificates, versions, ciphers. */
export function isTlsCode(code: string): boolean {
  return TLS_CODE.test(code) && !isNetworkCode(code);
}
