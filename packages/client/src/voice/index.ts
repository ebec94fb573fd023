// Exports of @baton/client/voice: a voice for a session of version 2, and speakers for it.
export { createVoice } from './voice.ts'
export type { Utterance, Voice, VoiceOptions } from './voice-api.ts'
export type { Speaker } from './speaker.ts'
export { createSilentSpeaker } from './silent-speaker.ts'
export { createBrowserSpeaker } from './browser-speaker.ts'
export { countWords, listWordEnds } from './speech-time.ts'
