// SPDX-License-Identifier: Apache-2.0
// The rules that guard an alias, held against this version: each with what was found, what is wanted, and what to do.
import { useQuery } from '@tanstack/react-query'
import { model_check_query, model_rules_query, type Model, type ModelVersion, type RuleResult } from '../../api/models'
import { useProject } from '../../app/context'
import { useText } from '../../i18n'
import { useParams_of_url } from '../../lib/url'
import { Glyph, type GlyphName } from '../../ui/icon'
import { Panel, Segments } from '../../ui/parts'
import { Loaded } from '../../ui/states'

/** The alias that matters most: production, or else the first that has rules. */
export function useGuardedAlias(model: Model | undefined, name: string): { alias: string; aliases: string[]; has_rules: boolean } {
  const project = useProject()
  const [params] = useParams_of_url()
  const rules = useQuery(model_rules_query(project, name))
  const guarded = (rules.data?.rules ?? []).flatMap((rule) => (rule.for === undefined ? [] : typeof rule.for === 'string' ? [rule.for] : rule.for))
  const aliases = [...new Set(['production', ...guarded, ...Object.keys(model?.aliases ?? {})])]
  const asked = params.get('alias')
  return { alias: asked && aliases.includes(asked) ? asked : 'production', aliases, has_rules: (rules.data?.rules.length ?? 0) > 0 }
}

export function glyph_of_rule(rule: RuleResult): GlyphName {
  if (rule.verdict === 'passed') return 'ok'
  if (rule.kind === 'approval') return 'person'
  return rule.verdict === 'failed' ? 'bad' : 'lost'
}

export function Rules({ version, alias, aliases }: { version: ModelVersion; alias: string; aliases: string[] }) {
  const { t } = useText()
  const project = useProject()
  const [, set_params] = useParams_of_url()
  const check = useQuery(model_check_query(project, version.name, version.version, alias))
  const passed = check.data?.rules.filter((rule) => rule.verdict === 'passed').length ?? 0
  const all = check.data?.rules.length ?? 0
  return (
    <Panel
      title={t('model.rules', { alias })}
      sub={all > 0 && t('model.rules.of', { n: passed, all })}
      side={aliases.length > 1 && <Segments label={t('model.alias.which')} value={alias} options={aliases.slice(0, 4).map((name) => [name, name])} onChange={(name) => set_params({ alias: name === 'production' ? null : name })} />}
      flush
    >
      <Loaded query={check} what={t('model.rules.error')} rows={3}>
        {({ rules, is_allowed, holder }) => (
          <>
            {rules.length === 0 ? <p className="f blk">{t('model.rules.none', { alias })}</p> : (
              <ul className="rules">{rules.map((rule) => <Rule key={rule.rule} rule={rule} />)}</ul>
            )}
            {rules.length > 0 && (
              <p className="rules-end f">
                {holder === version.version ? t('model.rules.holds', { alias }) : is_allowed ? t('model.rules.may', { alias, n: version.version }) : t('model.rules.may_not', { alias, n: version.version, all })}
              </p>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  )
}

function Rule({ rule }: { rule: RuleResult }) {
  const { t } = useText()
  return (
    <li className={`${rule.verdict} ${rule.kind}`}>
      <Glyph name={glyph_of_rule(rule)} label={t(`verdict.${rule.verdict}`)} />
      <span className="grow">
        <b>{rule.rule}</b>
        <span className="f">{t(`rule.${rule.kind}`)}</span>
        {rule.remedy && <span className="remedy" lang="en">{rule.remedy}</span>}
      </span>
      <span className="num b found" lang="en">{rule.found}</span>
      <span className="m wanted" lang="en">{rule.wanted}</span>
    </li>
  )
}
