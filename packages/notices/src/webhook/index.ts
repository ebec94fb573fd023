// Exports of @baton/notices/webhook.
export { webhook } from './webhook.ts'
export type { WebhookOptions } from './webhook.ts'

// A destination of your own.
export type { Notice, NoticeDestination, NoticeFailure, NoticeType } from '@baton/core/internal'
