// Baton in process, with the in-memory store.
import { openBaton } from './baton-in-process.ts'
import type { OpenClient } from './client.ts'

export const open: OpenClient = ({ base }) => openBaton({ base })
