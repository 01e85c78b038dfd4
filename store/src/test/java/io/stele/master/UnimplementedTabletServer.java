package io.stele.master;

import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.ClearTabletRequestProto;
import io.stele.wire.control.ControlProtos.CompactTableRequestProto;
import io.stele.wire.control.ControlProtos.CompactTabletsRequestProto;
import io.stele.wire.control.ControlProtos.CompactTabletsResponseProto;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import io.stele.wire.control.ControlProtos.EmptyProto;
import io.stele.wire.control.ControlProtos.EraseFamiliesRequestProto;
import io.stele.wire.control.ControlProtos.JobFilesResponseProto;
import io.stele.wire.control.ControlProtos.LoadTabletsRequestProto;
import io.stele.wire.control.ControlProtos.PinTabletRequestProto;
import io.stele.wire.control.ControlProtos.PinTabletResponseProto;
import io.stele.wire.control.ControlProtos.RefreshSchemaRequestProto;
import io.stele.wire.control.ControlProtos.RegisterFilesRequestProto;
import io.stele.wire.control.ControlProtos.ResolveJobRequestProto;
import io.stele.wire.control.ControlProtos.ServerReportResponseProto;
import io.stele.wire.control.ControlProtos.SortSegmentsRequestProto;
import io.stele.wire.control.ControlProtos.SortSegmentsResponseProto;
import io.stele.wire.control.ControlProtos.SplitTabletRequestProto;
import io.stele.wire.control.ControlProtos.UnloadTabletsRequestProto;
import org.apache.hadoop.thirdparty.protobuf.RpcController;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** A tablet server that can do nothing: tests override the requests that they make. */
abstract class UnimplementedTabletServer implements TabletServerProtocol {
  @Override
  public EmptyProto loadTablets(RpcController c, LoadTabletsRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public EmptyProto clearTablet(RpcController c, ClearTabletRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public EmptyProto eraseFamilies(RpcController c, EraseFamiliesRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public SortSegmentsResponseProto sortSegments(RpcController c, SortSegmentsRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public EmptyProto unloadTablets(RpcController c, UnloadTabletsRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public EmptyProto refreshSchema(RpcController c, RefreshSchemaRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompactTabletsResponseProto compactTablets(
      RpcController c, CompactTabletsRequestProto request) throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public EmptyProto compactTable(RpcController c, CompactTableRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public ServerReportResponseProto report(RpcController c, EmptyProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public JobFilesResponseProto registerFiles(RpcController c, RegisterFilesRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public JobFilesResponseProto resolveJob(RpcController c, ResolveJobRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public PinTabletResponseProto pinTablet(RpcController c, PinTabletRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public EmptyProto splitTablet(RpcController c, SplitTabletRequestProto request)
      throws ServiceException {
    throw new UnsupportedOperationException();
  }

  @Override
  public EmptyProto drain(RpcController c, DrainRequestProto request) throws ServiceException {
    throw new UnsupportedOperationException();
  }
}
