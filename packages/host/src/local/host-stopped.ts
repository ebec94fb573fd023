// What everybody is told who asks a host that was stopped.
import { BatonError } from '@baton/core'

export function hostStopped(): BatonError {
  return new BatonError({ code: 'host_stopped', message: 'the host was stopped' })
}
