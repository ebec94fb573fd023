// Explains that a port is in use by another program, and which option chooses another one.
import { BatonError, isBatonError } from '@baton/core'

/** Turns this failure to listen into an error that names the option; returns anything else as is. */
export function namePortOption(
  cause: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): unknown {
  const found = isBatonError(cause) ? cause.cause : cause
  if ((found as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE') return cause
  const message = `port ${port} of ${host} is in use; choose another one with --port, or --port 0 for a free one`
  return new BatonError({ code: 'invalid_option', message, cause: found })
}
