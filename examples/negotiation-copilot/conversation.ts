// Two people negotiate a licence and sometimes speak at the same time. Contains the transcriber's entries, and three
// events that the sales system reports during the conversation.
import type { ListenerEvent } from '@baton/host'

/** Seconds since the call began. A transcriber sends an entry when its speaker has finished. */
export type Moment =
  | { readonly fromS: number; readonly atS: number; readonly speaker: string; readonly text: string }
  | { readonly atS: number; readonly event: ListenerEvent }

const label = 'Negotiation Event'

export const CONVERSATION: readonly Moment[] = [
  {
    fromS: 0,
    atS: 3.1,
    speaker: 'Ann',
    text: 'Thanks for making the time. We would like to settle the licence today.',
  },
  { fromS: 2.6, atS: 4.2, speaker: 'Bob', text: 'So would we.' },
  { fromS: 4.4, atS: 8.9, speaker: 'Bob', text: 'Four hundred seats, three years, and the support that you have now.' },
  { fromS: 7.8, atS: 9.6, speaker: 'Ann', text: 'Support around the clock?' },
  {
    atS: 12.4,
    event: {
      label,
      type: 'OFFER_RECEIVED',
      detail: { seats: 400, years: 3, cents: 9_600_000 },
      message: 'The offer is for the whole term.',
    },
  },
  { fromS: 11.8, atS: 15.2, speaker: 'Bob', text: 'You have it in writing now. Around the clock, yes.' },
  { fromS: 17.5, atS: 20.3, speaker: 'Ann', text: 'That is more than we had in mind.' },
  { fromS: 19.9, atS: 23.8, speaker: 'Bob', text: 'There may be a discount if you pay up front.' },
  { atS: 29, event: { label, type: 'DEADLINE_MOVED', detail: { to: 'today, 17:00' } } },
  {
    atS: 31.2,
    event: { label, type: 'OFFER_WITHDRAWN', message: 'Bob’s system took the offer back.', urgency: 'interrupt' },
  },
  { fromS: 32, atS: 35.4, speaker: 'Bob', text: 'Forget the paper, please. Let us talk about two years instead.' },
  { fromS: 34.9, atS: 37, speaker: 'Ann', text: 'Gladly.' },
]
