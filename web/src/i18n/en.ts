// SPDX-License-Identifier: Apache-2.0
// English, one file per station. A place is {name}; a plural is {name|one|other} with # for the number; <b> marks
// stress.
import { data } from './en/data'
import { jobs } from './en/jobs'
import { line } from './en/line'
import { models } from './en/models'
import { pipelines } from './en/pipelines'
import { runs } from './en/runs'
import { services } from './en/services'
import { settings } from './en/settings'
import { shell } from './en/shell'
import { words } from './en/words'

export const en = { ...data, ...jobs, ...line, ...models, ...pipelines, ...runs, ...services, ...settings, ...shell, ...words } as const
