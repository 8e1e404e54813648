import { Button, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { formatTime } from '../format.js';
import { t } from '../text/text.js';
import { useZone } from '../zone.js';
import { EmptyState } from './states.js';

/** A form that stores its fields in the parameters of the URL. */
export function FilterForm({ children }: { children: React.ReactNode }): React.ReactElement {
  const [params, setParams] = useSearchParams();
  return (
    <form
      // A new key resets the fields to the values in the URL.
      key={params.toString()}
      onSubmit={(event) => {
        event.preventDefault();
        setParams(
          [...new FormData(event.currentTarget)].flatMap(([name, value]) =>
            typeof value === 'string' && value.trim() !== ''
              ? [[name, value.trim()] satisfies [string, string]]
              : [],
          ),
        );
      }}
    >
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs">
        {children}
      </SimpleGrid>
      <Group my="sm" gap="xs">
        <Button type="submit" color="teal.9">
          {t('filter')}
        </Button>
        <Button variant="default" onClick={() => setParams({})}>
          {t('reset')}
        </Button>
      </Group>
    </form>
  );
}

/** A filter of a list by state and by other fields. */
export function ListFilter({
  name: stateName = 'status',
  states,
  fields,
}: {
  /** The URL parameter for the state. */
  name?: 'status' | 'state';
  states: { value: string; label: string }[];
  fields: readonly ('account' | 'from' | 'to' | 'ref_id')[];
}): React.ReactElement {
  const [params] = useSearchParams();
  return (
    <FilterForm>
      <NativeSelect
        name={stateName}
        label={t('status')}
        defaultValue={params.get(stateName) ?? ''}
        data={states}
      />
      {fields.map((name) => (
        <FilterField key={name} name={name} label={name === 'ref_id' ? t('reference') : t(name)} />
      ))}
    </FilterForm>
  );
}

export function FilterField({
  name,
  label,
  maxLength = 64,
}: {
  name: string;
  label: string;
  maxLength?: number;
}): React.ReactElement {
  const [params] = useSearchParams();
  return (
    <TextInput
      name={name}
      label={label}
      defaultValue={params.get(name) ?? ''}
      maxLength={maxLength}
      {...((name === 'from' || name === 'to') && { type: 'date' })}
      {...(name.startsWith('price_') && { inputMode: 'numeric', pattern: '[1-9][0-9]{0,8}' })}
    />
  );
}

/**
 * Buttons to the older entries and back to the newest ones. If the search stopped before the end, a
 * text shows how far back it went.
 */
export function Older({
  next,
  lookedBackTo,
  name = 'after',
}: {
  next: string | null;
  lookedBackTo: string | null;
  /** The URL parameter for the position at which the page begins. */
  name?: 'after' | 'before' | 'cursor';
}): React.ReactElement {
  const [params, setParams] = useSearchParams();
  const zone = useZone();
  const showFrom = (place: string | null) => {
    setParams((before) => {
      const filter = [...before].filter(([each]) => each !== name);
      return place === null ? filter : [...filter, [name, place]];
    });
  };
  return (
    <>
      {lookedBackTo !== null && (
        <EmptyState>{t('lookedBack', { time: formatTime(zone, lookedBackTo) })}</EmptyState>
      )}
      <Group my="md" gap="xs">
        {params.has(name) && (
          <Button variant="default" onClick={() => showFrom(null)}>
            {t('first')}
          </Button>
        )}
        {next !== null && (
          <Button variant="default" onClick={() => showFrom(next)}>
            {lookedBackTo === null ? t('next') : t('lookFurther')}
          </Button>
        )}
      </Group>
    </>
  );
}
