// Baton in process, with the store in memory.
import { openBaton } from './baton-in-process.ts'
import type { OpenClient } from './client.ts'

export const open: OpenClient = ({ base }) => openBaton({ base })
