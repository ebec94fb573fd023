// Tells the server how much the voice has played. One report is in flight at a time, since the newest replaces the
// others.
import type { PlayedPlace, VoiceClient } from './voice-api.ts'

export function createAcknowledgements(
  client: Pick<VoiceClient, 'played'>,
  onFail: (cause: unknown) => void,
): { readonly report: (place: PlayedPlace) => void; readonly close: () => void } {
  let newest: PlayedPlace | undefined
  let isSending = false
  const send = async (): Promise<void> => {
    isSending = true
    for (let place = newest; place; place = newest) {
      newest = undefined
      try {
        await client.played(place)
      } catch (cause) {
        onFail(cause)
      }
    }
    isSending = false
  }
  return {
    report: (place) => {
      newest = place
      if (!isSending) void send()
    },
    close: () => {
      newest = undefined
    },
  }
}
