// The answer of a host that was stopped.
import { BatonError } from '@baton/core'

export function createStoppedError(): BatonError {
  return new BatonError({ code: 'host_stopped', message: 'the host was stopped' })
}
