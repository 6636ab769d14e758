import { expectTypeOf } from 'expect-type';
import type { Balancer, HostView, NonEmpty } from '../../lib/balancers/balancer.ts';
import type { BalancerFactory, BalancerOption } from '../../lib/balancers/registry.ts';
import { registerBalancer, resolveBalancer } from '../../lib/balancers/registry.ts';

class NearestBalancer implements Balancer {
  pick<H extends HostView>(hosts: NonEmpty<H>): H {
    return hosts[0];
  }
}

expectTypeOf<() => NearestBalancer>().toExtend<BalancerFactory>();
expectTypeOf<'round-robin'>().toExtend<BalancerOption>();
expectTypeOf<'a-registered-name'>().toExtend<BalancerOption>();
expectTypeOf<{ name: 'priority'; first: 2 }>().toExtend<BalancerOption>();
expectTypeOf<{ name: 'priority' }>().not.toExtend<BalancerOption>();
expectTypeOf<{ name: 'shuffle'; first: 2 }>().not.toExtend<BalancerOption>();
expectTypeOf(resolveBalancer).returns.toEqualTypeOf<BalancerFactory>();

registerBalancer('nearest', () => new NearestBalancer());
// @ts-expect-error A balancer itself would be shared by all clusters.
registerBalancer('nearest', new NearestBalancer());

declare const balancer: Balancer;
interface RegionalView extends HostView {
  readonly region: string;
}
declare const regional: NonEmpty<RegionalView>;
expectTypeOf(balancer.pick(regional)).toEqualTypeOf<RegionalView>();
// @ts-expect-error A balancer always has a choice.
balancer.pick([]);
