// A host as fronts see it: one that keeps lists of its sessions has more to offer.
import type { Host, SessionDirectory } from '@baton/core'

export type HostWithSessions = Host & Partial<SessionDirectory>
