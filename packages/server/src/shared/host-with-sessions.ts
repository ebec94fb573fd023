// A host as fronts see it, possibly with lists of its sessions.
import type { Host, SessionDirectory } from '@baton/core/internal'

export type HostWithSessions = Host & Partial<SessionDirectory>
