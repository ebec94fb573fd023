// A task in the format of either revision: nested, with `tasks/result` (2025-11-25), or flat, with its result inside
// (the extension of 2026-07-28).
import type { JsonObject } from '@baton/core'
import type { Task } from './tasks.ts'
import { POLL_MS } from './tasks.ts'
import { nameWaiting, toInputRequests } from './tool-calls.ts'

/** The answer to a call that became a task. */
export function writeCreated(task: Task, isModern: boolean): JsonObject {
  const about = describeTask(task, isModern)
  return isModern ? { resultType: 'task', ...about } : { task: about }
}

/** The answer to `tasks/get`. */
export function writeTask(task: Task, isModern: boolean): JsonObject {
  const about = describeTask(task, isModern)
  if (!isModern) return about
  const { status, result } = task
  if (status === 'completed') return { ...about, result: toJson(result) }
  if (status === 'input_required')
    return { ...about, inputRequests: toJson(toInputRequests(nameWaiting(task.live.waiting))) }
  return about
}

function describeTask(task: Task, isModern: boolean): JsonObject {
  const { id, status, message, createdAt, updatedAt, ttlMs } = task
  return {
    taskId: id,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt,
    lastUpdatedAt: updatedAt,
    ...(isModern ? { ttlMs, pollIntervalMs: POLL_MS } : { ttl: ttlMs, pollInterval: POLL_MS }),
  }
}

/** JSON, as the SDK's types guarantee. */
function toJson(value: unknown): JsonObject {
  return value as JsonObject
}
