// Baton in process, with a new session for every turn: what opening and removing one costs besides.
import { openBaton } from './baton-in-process.ts'
import type { OpenClient } from './client.ts'

export const open: OpenClient = ({ base }) => openBaton({ base, isNewEachTurn: true })
