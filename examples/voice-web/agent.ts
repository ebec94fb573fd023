// A train station voice agent: it looks up trains, slowly, and books seats; a booking continues when the person
// interrupts.
import type { Environment, Model } from '@baton/host'
import { defineAgent, tool } from '@baton/host'

export interface StationOptions {
  readonly model: string | Model
  readonly timers: Environment['timers']
  /** Duration of a timetable lookup in milliseconds; 4000 by default. */
  readonly lookupMs?: number
  /** Duration of a booking in milliseconds; 8000 by default. */
  readonly bookingMs?: number
}

export function createStation({ model, timers, lookupMs = 4000, bookingMs = 8000 }: StationOptions) {
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void timers.start(ms, resolve))
  return defineAgent({
    name: 'station',
    model,
    instructions: `You are the voice of a railway station. Answer in a few short sentences, without lists: they are spoken. Look up
every train with trains.find, and book with seats.book.`,
    tools: [
      tool({
        name: 'trains.find',
        title: 'Timetable',
        description: 'The next trains to a place',
        input: { type: 'object', properties: { to: { type: 'string', maxLength: 50 } }, required: ['to'] },
        effect: 'pure',
        waiting: { afterMs: 1500, say: 'One moment, I look at the timetable.' },
        execute: async ({ to }) => {
          await wait(lookupMs)
          return {
            to,
            trains: [
              { at: '9.40', platform: 3 },
              { at: '11.15', platform: 5 },
            ],
          }
        },
      }),
      tool({
        name: 'seats.book',
        title: 'Booking',
        description: 'Books a seat in a train',
        input: { type: 'object', properties: { train: { type: 'string', maxLength: 50 } }, required: ['train'] },
        effect: 'once',
        // A person who asks another question in the meantime still wants the seat.
        onInterrupt: 'detach',
        waiting: { afterMs: 2000, say: 'I am booking it.' },
        execute: async ({ train }) => {
          await wait(bookingMs)
          return { train, seat: 14, car: 6 }
        },
      }),
    ],
  })
}
