/** A server of a test cluster did not do what it was asked to do. */
export class ClusterError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'ClusterError';
  }
}
