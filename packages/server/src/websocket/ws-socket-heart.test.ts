// The heartbeat of a connection: a client that answers each ping stays, a silent one is disconnected, and no timer
// remains.
import { EventEmitter } from 'node:events'
import type { WebSocket } from 'ws'
import { expect, test } from 'vitest'
import { Heart } from './ws-socket.ts'

function start() {
  const timers = new Set<() => void>()
  const counts = { pings: 0, ends: 0 }
  const socket = Object.assign(new EventEmitter(), {
    ping: () => void (counts.pings += 1),
    terminate: () => void (counts.ends += 1),
  })
  const heart = new Heart(
    socket as unknown as WebSocket, // the parts in use
    {
      start: (_ms, callback) => {
        timers.add(callback)
        return () => void timers.delete(callback)
      },
    },
    { everyMs: 1000 },
  )
  const beat = (): void => {
    // A timer set by one of them waits for the next call.
    const due = [...timers]
    timers.clear()
    for (const fire of due) fire()
  }
  return { socket, heart, timers, counts, beat }
}

test('a connection that answers each ping stays, and one that stops is closed at the next beat', () => {
  const { socket, counts, beat } = start()
  for (let round = 0; round < 3; round += 1) {
    beat()
    socket.emit('pong')
  }
  beat()
  expect(counts).toEqual({ pings: 4, ends: 0 })
  beat()
  beat()
  expect(counts).toEqual({ pings: 4, ends: 1 })
})

test('after its end it never beats again', () => {
  const { heart, socket, timers, beat } = start()
  beat()
  socket.emit('pong')
  beat()
  heart.stop()
  expect([...timers]).toEqual([])
})
