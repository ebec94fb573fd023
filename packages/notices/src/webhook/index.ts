// Exports of @baton/notices/webhook.
export { webhook } from './webhook.ts'
export type { WebhookOptions } from './webhook.ts'

// A destination of your own.
export type {
  DeadNotice,
  Notice,
  NoticeContext,
  NoticeDestination,
  NoticeFailure,
  NoticeType,
} from '@baton/core/internal'
