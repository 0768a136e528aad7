// SPDX-License-Identifier: Apache-2.0
// Simplified Chinese, the same files as English. The types make a missing key a build error.
import type { Catalogue } from '.'
import { data } from './zh/data'
import { jobs } from './zh/jobs'
import { line } from './zh/line'
import { models } from './zh/models'
import { pipelines } from './zh/pipelines'
import { runs } from './zh/runs'
import { services } from './zh/services'
import { settings } from './zh/settings'
import { shell } from './zh/shell'
import { words } from './zh/words'

export const zh: Catalogue = { ...data, ...jobs, ...line, ...models, ...pipelines, ...runs, ...services, ...settings, ...shell, ...words }
