// Baton in process, with a new session for every turn: the additional cost of opening and removing a session.
import { openBaton } from './baton-in-process.ts'
import type { OpenClient } from './client.ts'

export const open: OpenClient = ({ base }) => openBaton({ base, isNewEachTurn: true })
